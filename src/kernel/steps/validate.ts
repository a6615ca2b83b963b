import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import { digest } from '../../lib/digest.ts';
import { checkJson } from '../../lib/json-shape.ts';
import type { Step } from '../call.ts';

/** `dry_run: false` means the same as leaving it out, and must have the same digest. */
export function withoutFalseDryRun({ dry_run, ...rest }: JsonObject): JsonObject {
  return dry_run === undefined || dry_run === false ? rest : { ...rest, dry_run };
}

/** Refuses what the tool does not declare, says where, and fixes the arguments and their digest for all later steps. */
export const validateInput = (): Step => async (call, next) => {
  const { bound, args: raw } = call.request;
  const { tool } = bound;
  const shape = checkJson(raw ?? {});
  if (shape) throw new ToolFault('invalid_input', `Arguments of ${tool.name}: ${shape}.`);
  const parsed = tool.input.parse(raw ?? {});
  if (!parsed.ok) {
    const issues = parsed.issues.slice(0, 10);
    const lines = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
    throw new ToolFault('invalid_input', `Arguments of ${tool.name} do not fit: ${lines.join('; ')}.`, {
      detail: { issues: issues.map(({ path, message }) => ({ path, message })) },
    });
  }
  // The parse just proved it an object of the tool's own shape.
  call.args = withoutFalseDryRun(parsed.value as JsonObject);
  call.digest = digest(tool.name, call.args);
  call.runId = tool.runOf?.(call.args) ?? call.request.parent?.runId;
  call.dryRunRequested = call.args.dry_run === true;
  return next();
};
