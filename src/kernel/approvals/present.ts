import type { JsonObject } from '../../contract/json.ts';
import {
  type Environment,
  type Presentation,
  type PresentationBlock,
  type PresentationDraft,
  type PresentationFact,
  type PresentationTarget,
  type PresentationUndo,
  type RiskNote,
  TITLE_MAX,
} from '../../contract/presentation.ts';
import type { Principal } from '../../contract/principal.ts';
import { SERVER_CATEGORY } from '../../contract/servers.ts';
import type { Tool } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { lookup } from '../../lib/lookup.ts';
import { timeLimit } from '../../lib/time-limit.ts';
import { cutWords, fitTitle, humanName } from '../../lib/words.ts';
import { fieldRows, isIdName } from './fields.ts';
import { fileEdits } from './file-edits.ts';

/** A call is queued only after it was presented, and presenting a code change means making it. */
export const ASKING_MS = 120_000;
/** A page waits for this; what takes longer is shown as it was when it was asked. */
export const SHOWING_MS = 4_000;

const GIST_MAX = 160;

export interface PresentOptions {
  readonly principal: Principal;
  readonly asked?: { readonly at: Date; readonly context: JsonObject } | undefined;
  readonly binding: JsonObject | undefined;
  /** What was stored when the call was asked; undefined the first time. */
  readonly earlier?: Presentation | undefined;
  readonly limitMs: number;
}

/** Asks the tool how to show its call, and completes the answer. What the tool refuses is refused before anyone is asked. */
export async function presentCall(
  bound: BoundTool,
  args: JsonObject,
  { principal, asked, binding, earlier, limitMs }: PresentOptions,
): Promise<Presentation> {
  const { tool } = bound;
  const limit = timeLimit(limitMs);
  try {
    const { signal } = limit;
    const draft = tool.present
      ? await tool.present(args, {
          services: await bound.services(),
          principal,
          asked,
          binding,
          earlier,
          signal,
        })
      : undefined;
    const target = draft?.target ?? (await targetOf(bound, args, signal));
    return complete(tool, args, target, draft);
  } finally {
    limit.clear();
  }
}

/** Where the call acts, as its toolkit says. Nothing it cannot say may keep a person from being asked. */
async function targetOf(
  { tool, toolkit, services }: BoundTool,
  args: JsonObject,
  signal: AbortSignal,
): Promise<PresentationTarget> {
  try {
    if (toolkit.target) return await toolkit.target(await services(), args, signal);
  } catch {
    // A toolkit that cannot connect says nothing about the call; the person sees where it would act all the same.
  }
  // A tool that reaches out is taken for live until its toolkit says otherwise.
  const environment = tool.reach === 'local' ? 'local' : 'live';
  return { kind: 'toolkit', label: toolkit.title ?? toolkit.id, environment };
}

/** Where a call of this tool would act now. */
export async function environmentOf(bound: BoundTool, args: JsonObject): Promise<Environment> {
  const limit = timeLimit(SHOWING_MS);
  try {
    return (await targetOf(bound, args, limit.signal)).environment;
  } finally {
    limit.clear();
  }
}

function complete(
  tool: Tool,
  args: JsonObject,
  target: PresentationTarget,
  draft: PresentationDraft | undefined,
): Presentation {
  const generic = draft === undefined;
  const words = draft?.title ?? genericTitle(tool, target);
  const money = movesMoney(tool, args);
  const done = draft?.done ?? `${words}: done`;
  const edits = generic ? fileEdits(tool, args) : undefined;
  const gist = draft?.gist ?? (generic ? mainArgument(tool, args) : undefined);
  const rest = {
    title: draft?.body?.length ? 'Other arguments' : 'Arguments',
    covers: (draft ?? edits)?.covers ?? [],
  };
  return {
    title: fitTitle(words, target.environment, TITLE_MAX),
    done: fitTitle(done, target.environment, TITLE_MAX),
    act: draft?.act ?? (tool.effect === 'destroy' ? 'delete' : 'run'),
    gist: gist === undefined || gist === '' ? null : cutWords(gist, GIST_MAX),
    kind: draft?.kind ?? (edits ? 'file' : tool.category === SERVER_CATEGORY ? 'server' : 'call'),
    target,
    effect: draft?.effect ?? effectOf(tool, target),
    undo: draft?.undo ?? undoOf(tool),
    risks: risksOf(tool, args, draft, money),
    body: [...(draft?.body ?? edits?.blocks ?? []), ...restOf(tool, args, rest)],
    generic,
    money,
  };
}

export const genericTitle = (tool: Tool, { label }: Pick<PresentationTarget, 'label'>): string =>
  tool.category === SERVER_CATEGORY
    ? `Run ${remoteName(tool)} on ${label}`
    : `${tool.title.replace(/[.?]$/u, '')} in ${label}`;

const remoteName = ({ name, definition }: Tool): string =>
  typeof definition?.name === 'string' ? definition.name : name;

/** The argument that says most: the first required text, or the first text at all. */
export function mainArgument({ input }: Tool, args: JsonObject): string | undefined {
  const required = Array.isArray(input.json.required) ? input.json.required : [];
  const names = [...required.map(String), ...Object.keys(args)];
  const rows = names
    .filter((name) => !isIdName(name) && typeof lookup(args, name) === 'string' && lookup(args, name) !== '')
    .flatMap((name) => fieldRows({ [name]: lookup(args, name) ?? '' }, input.json, NONE))
    .filter(({ type }) => type === 'text' || type === 'code');
  // Which database it runs on says less than what it runs there.
  const row = rows.find(({ name }) => RUNS.test(name)) ?? rows[0];
  return row && `${row.label}: ${row.text}`;
}

const RUNS = /(^|_)(sql|statement|script|command)$/iu;
const NONE: ReadonlySet<string> = new Set();

/** Everything the body does not show, so that no argument is hidden from the person who decides. */
function restOf(
  { input, governanceArgs = [] }: Tool,
  args: JsonObject,
  { title, covers }: { readonly title: string; readonly covers: readonly string[] },
): PresentationBlock[] {
  const rows = fieldRows(args, input.json, new Set([...covers, ...governanceArgs]));
  return rows.length === 0 ? [] : [{ type: 'fields', title, rows, source: 'agent' }];
}

function effectOf({ effect }: Tool, { label, environment }: PresentationTarget): PresentationFact {
  const where = environment === 'local' ? 'On this machine' : `At ${label}`;
  switch (effect) {
    case 'destroy':
      return { text: 'Deletes data', detail: where };
    case 'change':
      return { text: 'Changes data', detail: where };
    case 'read':
      return { text: 'Reads data', detail: 'Changes nothing' };
    case 'propose':
      return { text: 'Files a suggestion', detail: 'Changes nothing' };
    case 'decide':
      return { text: 'Decides approvals' };
    default:
      return effect satisfies never;
  }
}

function undoOf({ effect, rollback, category }: Tool): PresentationUndo {
  if (rollback) return { possible: true, text: 'Can be undone' };
  if (effect === 'read' || effect === 'propose') return { possible: true, text: 'Nothing to undo' };
  if (effect === 'destroy') return { possible: false, text: 'No undo' };
  if (category === SERVER_CATEGORY)
    return { possible: null, text: 'Unknown', detail: 'The server offers no undo' };
  return { possible: false, text: 'No undo' };
}

function risksOf(
  tool: Tool,
  args: JsonObject,
  draft: PresentationDraft | undefined,
  money: boolean,
): RiskNote[] {
  const own = [...(draft?.risks ?? []), ...(tool.risks?.(args) ?? [])];
  const notes = own.map((risk) => (typeof risk === 'string' ? toNote(risk, tool) : risk));
  if (money) notes.unshift({ level: 'danger', text: 'Moves money' });
  return notes.filter((note, index) => notes.findIndex(({ text }) => text === note.text) === index);
}

const toNote = (text: string, { effect }: Tool): RiskNote => ({
  level: effect === 'destroy' && /^(Destructive|Cannot be undone)/u.test(text) ? 'danger' : 'note',
  text,
});

export const movesMoney = (tool: Tool, args: JsonObject): boolean =>
  typeof tool.movesMoney === 'function' ? tool.movesMoney(args) : tool.movesMoney === true;

const RULES: Readonly<Record<string, string>> = {
  proposal: 'Suggestions',
  permit: 'Permit requests',
  default: 'Default policy',
};
const RULE_KINDS: Readonly<Record<string, string>> = {
  hard: 'Built-in rule',
  list: 'List',
  setting: 'Setting',
};

/** A rule by its name and as a sentence: `template:safe_default:writes` is the rule “Writes” of a template. */
export function describeRule(
  id: string,
  reason: string,
  label: string | undefined,
): { id: string; title: string; sentence: string } {
  const known = lookup(RULES, id);
  const [kind = '', ...rest] = id.split(':');
  const name = humanName(rest.at(-1) ?? id);
  const group = lookup(RULE_KINDS, kind);
  const title = known ?? (kind === 'template' ? name : group ? `${group} “${name}”` : humanName(id));
  return { id, title, sentence: sentenceOf(id, reason, label) };
}

const FIXED_SENTENCES: Readonly<Record<string, string>> = {
  proposal: 'Suggestions take effect only after a person accepts them.',
  permit: 'This call requires a permit for exactly these arguments.',
  'hard:destroy_approval': 'Every destructive call requires approval.',
  'list:require_approval_for': 'This tool is on the list of tools that require approval.',
};

function sentenceOf(id: string, reason: string, label: string | undefined): string {
  if (Object.hasOwn(FIXED_SENTENCES, id)) return lookup(FIXED_SENTENCES, id) ?? reason;
  // The documented reply to agents; a person reads the part in parentheses, or what the rule is for.
  const fixed = /^tool '[^']*' requires approval(?: \((.+)\))?$/u.exec(reason);
  const words = fixed ? (fixed[1] ?? label ?? 'this rule requires approval for the tool') : reason;
  const text = `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}
