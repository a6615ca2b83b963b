import type { App } from '../app.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { Outcome } from '../contract/outcome.ts';
import { outcomeData } from '../kernel/evidence.ts';
import type { GlobalOptions } from './context.ts';
import { hintOf } from './hint.ts';
import { complain, print, printJson } from './output.ts';
import { plainText } from './plain-text.ts';
import { startProgress } from './progress.ts';

export interface ActOptions {
  /** The person at the terminal has decided: what policy routes to the inbox is approved at once, in their name. */
  readonly approve?: boolean;
}

interface Acted {
  readonly callId: string;
  readonly outcome: Outcome;
  /** What was approved and could not run waits again under this number. */
  readonly waits?: number;
  readonly paused?: boolean;
}

/** One tool call as the person at the terminal, through the pipeline like any other. */
export async function act(
  app: App,
  tool: string,
  args: JsonObject,
  { approve }: ActOptions = {},
): Promise<Acted> {
  const bound = await app.inventory.resolve(tool);
  if (!bound) throw new Error(`There is no tool ${tool}.`);
  const cancel = new AbortController();
  const stop = (): void => cancel.abort();
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
    if (outcome.status !== 'routed') return { callId, outcome };
    if (!approve) return { callId, outcome, paused: await app.kernel.isPaused() };
    const { approval, outcome: gave } = await app.kernel.approvals.approve(outcome.approvalId, app.person);
    return {
      callId: approval.callId ?? callId,
      outcome: gave ?? outcome,
      waits: approval.state === 'pending' ? approval.id : undefined,
    };
  } finally {
    progress.end();
    process.off('SIGINT', stop);
  }
}

/** A read whose data the command goes on with; what refuses it ends the command. */
export async function ask<T>(app: App, tool: string, args: JsonObject): Promise<T> {
  const { outcome } = await act(app, tool, args);
  // The tool's own output schema was enforced by the pipeline; T names it.
  if (outcome.status === 'ok') return outcome.data as T;
  if ('fault' in outcome) throw outcome.fault;
  throw new Error(`${tool} gave no answer (${outcome.status}).`);
}

/** Says what became of a change: `done` words the success, everything else is worded here. */
export function tellAct<T>(
  global: GlobalOptions,
  { callId, outcome, waits, paused }: Acted,
  done: (data: T, notes: JsonObject) => string,
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
  const still = waits === undefined ? '' : `\nIt still waits in the inbox as ${waits}.`;
  switch (outcome.status) {
    case 'ok':
      print(plainText(done(outcome.data as T, outcome.notes)));
      return;
    case 'routed':
      print(
        `Nothing was done yet: ${outcome.reason}. It waits in the inbox as ${outcome.approvalId}.${paused ? ' Changes are paused; it can run after `countersign resume`.' : ''}\nApprove it: countersign approvals approve ${outcome.approvalId}   (with --approve a command decides at once)`,
      );
      return;
    case 'dry_run':
      print(`Dry run (policy): nothing was changed.${still}`);
      if (outcome.data !== undefined) print(plainText(JSON.stringify(outcome.data, null, 2)));
      return;
    case 'needs_person':
      print(plainText(outcome.question));
      return;
    case 'indeterminate':
      complain(
        `Error: ${plainText(outcome.fault.message)}\nIt is not known whether it happened. Do not repeat it: look, then run \`countersign approvals settle ${callId} --happened\` or \`--not-happened\`.`,
      );
      return;
    case 'refused':
    case 'failed':
      complain(`Error: ${[plainText(outcome.fault.message), ...hintOf(outcome.fault)].join('\n')}${still}`);
      return;
    default:
      outcome satisfies never;
  }
}

/** What a toolkit shows to people; the caller names the shape its view gives. */
export async function look<T>(
  app: App,
  toolkitId: string,
  name: string,
  params: Readonly<Record<string, JsonValue | undefined>> = {},
): Promise<T> {
  const { toolkit, services } = await app.inventory.load(toolkitId);
  const view = toolkit.views?.[name];
  if (!view) throw new Error(`The toolkit ${toolkitId} has no view ${name}.`);
  const given = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
  return (await view(given as JsonObject, { services: await services(), person: app.person })) as T;
}
