import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import { asksForDryRun, withoutFalseDryRun } from '../../contract/tool.ts';
import { digest } from '../../lib/canonical.ts';
import { describeDatabaseError } from '../../lib/database-error.ts';
import { checkJson } from '../../lib/json-shape.ts';
import type { Ports } from '../ports.ts';
import type { CallState, Step } from './call.ts';
import { cleanRunId } from './labels.ts';

/** After this step nothing throws: a fault is an outcome, anything else is logged and reported as `internal`. */
export const containErrors =
  ({ log }: Pick<Ports, 'log'>): Step =>
  async (call, next) => {
    try {
      return await next(call);
    } catch (error) {
      if (error instanceof ToolError) return { status: 'failed', fault: error };
      log.error('A step of the pipeline failed', {
        call: call.id,
        tool: call.request.bound.tool.name,
        error,
      });
      const problem = describeDatabaseError(error);
      if (problem !== undefined) {
        const message = `Nothing was done. ${problem}`;
        return { status: 'failed', fault: new ToolError('db_error', message, { cause: error }) };
      }
      return {
        status: 'failed',
        fault: new ToolError('internal', `The call failed with an internal error (call ${call.id}).`, {
          cause: error,
        }),
      };
    }
  };

/** Refuses what the tool does not declare, says where, and fixes the arguments and their digest for all later steps. */
export const validateInput = (): Step => (call, next) => {
  const { bound, args: raw } = call.request;
  const { tool } = bound;
  adoptRaw(call);
  const shape = checkJson(raw ?? {});
  if (shape) throw new ToolError('invalid_input', `Invalid arguments for ${tool.name}: ${shape}.`);
  const parsed = tool.input.parse(raw ?? {});
  if (!parsed.ok) {
    const issues = parsed.issues.slice(0, 10);
    const lines = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
    throw new ToolError('invalid_input', `Invalid arguments for ${tool.name}: ${lines.join('; ')}.`, {
      detail: { issues: issues.map(({ path, message }) => ({ path, message })) },
    });
  }
  // The parse just proved it an object of the tool's own shape.
  call.args = withoutFalseDryRun(tool, withoutUnset(parsed.value as JsonObject));
  call.digest = digest(tool.name, call.args);
  call.askedDigest = askedDigestOf(call);
  call.runId = tool.runOf?.(call.args) ?? call.request.parent?.runId;
  call.dryRunRequested = asksForDryRun(tool, call.args);
  return next(call);
};

/** A prepared call that waited for a person answers the call that was sent, not the one that was prepared. */
function askedDigestOf({ request, digest: sent }: CallState): string {
  const asked = request.approval?.context.asked_digest;
  return typeof asked === 'string' ? asked : sent;
}

/** A schema that reads null as unset leaves the key behind, which is not JSON and has no digest. */
function withoutUnset(args: JsonObject): JsonObject {
  const values: readonly unknown[] = Object.values(args);
  if (!values.includes(undefined)) return args;
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}

/** Also a call whose arguments are invalid belongs to its run, and was meant dry or not. */
function adoptRaw(call: CallState): void {
  const { args, bound } = call.request;
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return;
  const raw = args as JsonObject;
  call.dryRunRequested = asksForDryRun(bound.tool, raw);
  const run = bound.tool.runOf && typeof raw.run_id === 'string' ? bound.tool.runOf(raw) : undefined;
  call.runId = cleanRunId(run) ?? call.runId;
}

/** The tool's own semantic check. After replay, because a repeated post is a duplicate only when it is a new call. */
export const checkMeaning = (): Step => (call, next) =>
  call.request.bound.tool.check ? checkThen(call, next) : next(call);

const checkThen: Step = async (call, next) => {
  const { tool, services } = call.request.bound;
  await tool.check?.(call.args, await services(), call.request.principal);
  return next(call);
};
