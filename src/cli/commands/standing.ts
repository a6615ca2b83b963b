import { CliError, type GlobalOptions } from '../../contract/command.ts';
import {
  type ArgumentPredicate,
  argumentPredicate,
  type StandingDraft,
  type StandingTest,
  standingDraft,
} from '../../contract/standing.ts';
import { standingSentence } from '../../kernel/approvals/predicates.ts';
import { print, printJson, table } from '../../terminal/output.ts';
import { counted, plainText } from '../../terminal/text.ts';
import { agentName } from '../agent-name.ts';
import { withApp } from '../context.ts';
import { requirePersonHere } from '../person-here.ts';

export interface AddOptions {
  readonly from?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly where: readonly string[];
  readonly until?: string;
  readonly uses?: string;
  readonly yes?: boolean;
}

export function listStanding(global: GlobalOptions): Promise<void> {
  return withApp(global, async ({ kernel }) => {
    const rows = await kernel.standing.list();
    if (global.json) return printJson(rows);
    if (rows.length === 0)
      return print('No standing approvals. Add one: countersign approvals standing add --from ID');
    const cells = rows.map((one) => [
      String(one.id),
      one.state,
      `${one.used} of ${one.uses}`,
      one.until.slice(0, 16),
      plainText(one.sentence),
    ]);
    print(table(['ID', 'STATE', 'USED', 'UNTIL', 'WHAT'], cells, 120));
    print('\nRevoke one: countersign approvals standing revoke ID');
  });
}

export function addStanding(global: GlobalOptions, options: AddOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, person, now } = app;
    if (options.yes) await requirePersonHere(app);
    const from = options.from === undefined ? undefined : await kernel.approvals.get(options.from);
    if (options.from !== undefined && !from) throw new CliError(`Approval ${options.from} not found.`);
    if (from?.kind === 'permit') throw new CliError('A permit covers one exact call.');
    const base = from && kernel.standing.draftFrom(from);
    const draft = readDraft(base, options, now());
    const test = await kernel.standing.test(draft);
    if (!options.yes) {
      if (global.json) return printJson({ draft, sentence: standingSentence(draft), test });
      print(`${plainText(standingSentence(draft))}\n\n${describeTest(test)}`);
      return print('\nNothing was saved. Run the same command with --yes to save it.');
    }
    const added = await kernel.standing.add(draft, person);
    if (global.json) return printJson({ ...added, test });
    print(`Saved standing approval ${added.id}: ${plainText(added.sentence)}\n${describeTest(test)}`);
    print(`It answers an ask, never a deny. Revoke it: countersign approvals standing revoke ${added.id}`);
  });
}

export function revokeStanding(global: GlobalOptions, id: string): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    if (!/^\d+$/.test(id) || !(await kernel.standing.revoke(Number(id), person)))
      throw new CliError(`No active standing approval has the number ${id}.`);
    if (global.json) printJson({ id: Number(id), revoked: true });
    else print(`Revoked standing approval ${id}. Such calls require approval again.`);
  });
}

function describeTest({ of, answered, asked, rejected }: StandingTest): string {
  if (of === 0) return 'No earlier calls of this agent and tool were decided.';
  const lines = [
    `Of the last ${counted(of, 'decided call')}, it would have answered ${answered.length}; ${asked.length} would still ask.`,
    ...(rejected > 0
      ? [`Warning: it would have allowed ${counted(rejected, 'call')} that a person rejected.`]
      : []),
    ...asked.slice(0, 5).map(({ title, why }) => `  Still asks: ${plainText(title)} (${why})`),
  ];
  return lines.join('\n');
}

const UNITS = { h: 3_600_000, d: 86_400_000 } as const;

function readDraft(base: StandingDraft | undefined, options: AddOptions, now: Date): StandingDraft {
  const given = options.where.map(readPredicate);
  const kept = (base?.predicates ?? []).filter(({ arg }) => !given.some((one) => one.arg === arg));
  const agent = options.agent === undefined ? base?.agent : `agent:${agentName(options.agent)}`;
  const tool = options.tool ?? base?.tool;
  if (agent === undefined || tool === undefined)
    throw new CliError('Specify --from ID, or --agent and --tool.', 2);
  const parsed = standingDraft.safeParse({
    agent,
    tool,
    predicates: [...kept, ...given],
    until:
      options.until === undefined ? (base?.until ?? readUntil('7d', now)) : readUntil(options.until, now),
    uses: options.uses === undefined ? (base?.uses ?? 10) : Number(options.uses),
  });
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new CliError(`Invalid standing approval: ${lines.join('; ')}.`, 2);
}

function readUntil(text: string, now: Date): string {
  const [, count, unit] = /^(\d+)([hd])$/u.exec(text) ?? [];
  if (count !== undefined)
    return new Date(now.getTime() + Number(count) * UNITS[unit as keyof typeof UNITS]).toISOString();
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new CliError(`Invalid time "${text}". Use 12h, 7d or an RFC 3339 time.`, 2);
  return new Date(at).toISOString();
}

/** `text:any`, `text:starts_with:Hello`, `text:links_only:acme.dev`, `n:at_most:5`, `text:equals:"Hello"`. */
function readPredicate(text: string): ArgumentPredicate {
  const [, arg = '', op = '', rest] = /^([^:]+):([a-z_]+)(?::(.*))?$/su.exec(text) ?? [];
  const parsed = argumentPredicate.safeParse({ arg, op, ...operandOf(op, rest ?? '') });
  if (parsed.success) return parsed.data;
  throw new CliError(
    `Invalid condition "${text}". Use ARG:any, ARG:equals:JSON, ARG:one_of:[JSON], ARG:starts_with:TEXT, ARG:at_most:N or ARG:links_only:HOST,HOST.`,
    2,
  );
}

function operandOf(op: string, rest: string): object {
  switch (op) {
    case 'equals':
      return { value: jsonOr(rest) };
    case 'one_of':
      return { values: jsonOr(rest) };
    case 'starts_with':
      return { text: rest };
    case 'at_most':
      return { number: Number(rest) };
    case 'links_only':
      return { hosts: rest.split(',').filter(Boolean) };
    default:
      return {};
  }
}

/** What is not JSON is text, because a shell makes quotes tedious. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
