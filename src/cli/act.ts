import type { App } from '../app/app.ts';
import type { Acted, ActOptions, GlobalOptions, NamedTool } from '../contract/command.ts';
import type { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import { type Outcome, outcomeData } from '../contract/outcome.ts';
import { readShown, type TypedParams, type ViewData, type ViewSpecs } from '../contract/view.ts';
import { print, printJson, printStderr, startProgress } from '../terminal/output.ts';
import { plainText } from '../terminal/text.ts';
import { requirePersonHere } from './person-here.ts';

/** Codes with so many causes that the catalogue's one hint often speaks of another; their messages say what to do. */
const CODES_WITHOUT_HINT = new Set([
  'conflict',
  'approval_state',
  'not_allowed',
  'invalid_input',
  'validation_error',
]);

/** What agents are sent to the inbox for, a person does here. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['paused', '`countersign resume` lifts the pause.'],
  ['agent_paused', '`countersign agents resume NAME` lifts the pause.'],
  ['definition_changed', '`countersign servers show` compares both definitions.'],
]);

/** The hint as a line to print, if it surely fits: what was not found was sought by an id, or none is given. */
export function hintOf({ code, detail, hint }: ToolError): string[] {
  const command = COMMANDS.get(code);
  if (command !== undefined) return [command];
  // A hint that names a command was written for this very error.
  if (CODES_WITHOUT_HINT.has(code)) return hint.includes('`countersign ') ? [hint] : [];
  if (code === 'not_found' && (detail?.id === undefined || detail.tool !== undefined)) return [];
  return [hint];
}

/** One tool call as the person at the terminal, through the pipeline like any other. */
export async function act<O>(
  app: App,
  tool: NamedTool<O>,
  args: JsonObject,
  { approve }: ActOptions = {},
): Promise<Acted<O>> {
  const bound = await app.inventory.resolve(tool.name);
  if (!bound) throw new Error(`Unknown tool: ${tool.name}.`);
  if (bound.tool.effect === 'decide') await requirePersonHere(app);
  const cancel = new AbortController();
  const stop = (): void => cancel.abort(new Error('Cancelled at the terminal.'));
  process.once('SIGINT', stop);
  const progress = startProgress();
  try {
    const { outcome, callId } = await app.kernel.invoke({
      bound,
      args,
      principal: app.person,
      transport: 'cli',
      client: 'countersign-cli',
      signal: cancel.signal,
      onProgress: ({ message, done, total }) => progress.show(message, done, total),
    });
    if (outcome.status !== 'routed') return { callId, outcome, data: dataOf(tool, outcome) };
    if (!approve) return { callId, outcome, data: undefined, paused: await app.kernel.isPaused() };
    await requirePersonHere(app, outcome.approvalId);
    const { approval, outcome: gave } = await app.kernel.approvals.approve(outcome.approvalId, app.person);
    return {
      callId: approval.callId ?? callId,
      outcome: gave ?? outcome,
      data: gave && dataOf(tool, gave),
      waits: approval.state === 'pending' ? approval.id : undefined,
    };
  } finally {
    progress.end();
    process.off('SIGINT', stop);
  }
}

/** The compiler holds a tool's handler to its output schema, so its data is of that type. */
const dataOf = <O>(_tool: NamedTool<O>, outcome: Outcome): O | undefined =>
  outcome.status === 'ok' ? (outcome.data as O) : undefined;

/** A read whose data the command continues with; what refuses it ends the command. */
export async function ask<O>(app: App, tool: NamedTool<O>, args: JsonObject): Promise<O> {
  const { outcome, data } = await act(app, tool, args);
  if (data !== undefined) return data;
  if ('fault' in outcome) throw outcome.fault;
  throw new Error(`${tool.name} returned no result (status: ${outcome.status}).`);
}

/** Says what became of a change: `done` words the success, everything else is worded here. */
export function printOutcome<O>(
  global: GlobalOptions,
  { callId, outcome, data, waits, paused }: Acted<O>,
  done: (data: O, notes: JsonObject) => string,
): void {
  const failed =
    outcome.status === 'refused' || outcome.status === 'failed' || outcome.status === 'indeterminate';
  if (failed) process.exitCode = 1;
  if (global.json) {
    printJson({
      call_id: callId,
      ...outcomeData(outcome),
      ...(waits === undefined ? {} : { waits_as: waits }),
    });
    return;
  }
  const still = waits === undefined ? '' : `\nApproval ${waits} is still pending.`;
  switch (outcome.status) {
    case 'ok':
      if (data !== undefined) print(plainText(done(data, outcome.notes)));
      return;
    case 'routed':
      print(
        `Not run: ${outcome.reason}. Pending as approval ${outcome.approvalId}.${paused ? ' Changes are paused; it can run after `countersign resume`.' : ''}\nTo approve it: countersign approvals approve ${outcome.approvalId}   (--approve on a command approves it immediately)`,
      );
      return;
    case 'dry_run':
      print(`Dry run (required by policy): nothing was changed.${still}`);
      if (outcome.data !== undefined) print(plainText(JSON.stringify(outcome.data, null, 2)));
      return;
    case 'needs_person':
      print(plainText(outcome.question));
      return;
    case 'indeterminate':
      printStderr(
        `Error: ${plainText(outcome.fault.message)}\nOutcome unknown: do not retry. Check the target, then run \`countersign approvals settle ${callId} --happened\` or \`--not-happened\`.`,
      );
      return;
    case 'refused':
    case 'failed':
      printStderr(
        `Error: ${[plainText(outcome.fault.message), ...hintOf(outcome.fault)].join('\n')}${still}`,
      );
      return;
    default:
      outcome satisfies never;
  }
}

/** What a toolkit shows to people, checked against the view's spec. */
export async function readView<V extends ViewSpecs, K extends keyof V & string>(
  app: App,
  toolkitId: string,
  { specs, name, params }: { specs: V; name: K; params: TypedParams<V[K]> | undefined },
): Promise<ViewData<V[K]>> {
  const { toolkit, services } = await app.inventory.load(toolkitId);
  const view = toolkit.views?.[name];
  const spec = specs[name];
  if (!view || !spec) throw new Error(`Toolkit ${toolkitId} has no view named ${name}.`);
  // One pass through JSON drops what is undefined.
  const given: JsonObject = JSON.parse(JSON.stringify(params ?? {}));
  const shown = await view(given, { services: await services(), person: app.person });
  return readShown(spec, shown);
}
