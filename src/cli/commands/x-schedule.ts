import { type ActOptions, act, look, tellAct } from '../act.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';
import { oneLine } from '../plain-text.ts';
import { limitOf } from '../text.ts';
import { textOf } from './x-post.ts';

interface Item {
  readonly id: number;
  readonly status: string;
  readonly content_type: string;
  readonly content: string | readonly string[];
  readonly scheduled_for: string | null;
  readonly topic: string | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly tweet_id: string | null;
  readonly posted_at: string | null;
  readonly approval_id: number | null;
  readonly error: string | null;
}

interface Schedule {
  readonly timezone: string;
  readonly active_hours_start: number;
  readonly active_hours_end: number;
  readonly active_days: readonly string[];
  readonly upcoming: readonly Item[];
  readonly past: readonly Item[];
}

interface ComposeOptions extends ActOptions {
  readonly thread?: boolean;
}

export function listSchedule(
  global: GlobalOptions,
  options: { limit?: string; past?: boolean },
): Promise<void> {
  return withApp(global, async (app) => {
    const shown = await look<Schedule>(app, 'x', 'schedule', { limit: limitOf(options.limit) });
    if (global.json) return printJson(shown);
    const { timezone, active_hours_start: from, active_hours_end: to, active_days } = shown;
    const days = active_days.length === 7 ? 'every day' : active_days.join(' ');
    print(`Active hours ${from}:00 to ${to}:00, ${days}. Times are in ${timezone}.\n`);
    const upcoming = [...shown.upcoming].sort((a, b) =>
      (a.scheduled_for ?? '').localeCompare(b.scheduled_for ?? ''),
    );
    if (upcoming.length === 0)
      print('Nothing is scheduled. `countersign x schedule add TEXT --at TIME` adds a post.');
    else
      print(
        table(
          ['ID', 'WHEN', 'STATE', 'KIND', 'BY', 'TEXT'],
          upcoming.map((item) => [
            String(item.id),
            wallClock(item.scheduled_for, timezone),
            stateOf(item),
            item.content_type,
            item.created_by,
            textOfItem(item),
          ]),
        ),
      );
    if (upcoming.some(({ status }) => status === 'scheduled'))
      print('\n`countersign up` posts them when it runs.');
    if (options.past && shown.past.length > 0) {
      print('');
      print(
        table(
          ['ID', 'POSTED', 'STATE', 'POST', 'TEXT'],
          shown.past.map((item) => [
            String(item.id),
            wallClock(item.posted_at, timezone),
            item.status,
            item.tweet_id ?? '',
            textOfItem(item),
          ]),
        ),
      );
    }
  });
}

export function schedulePost(
  global: GlobalOptions,
  text: string,
  options: ComposeOptions & { at: string },
): Promise<void> {
  return compose(global, text, options, options.at);
}

export const addDraft = (global: GlobalOptions, text: string, options: ComposeOptions): Promise<void> =>
  compose(global, text, options);

function compose(global: GlobalOptions, text: string, options: ComposeOptions, at?: string): Promise<void> {
  return withApp(global, async (app) => {
    const args = {
      content: textOf(text),
      content_type: options.thread ? 'thread' : 'tweet',
      ...(at === undefined ? {} : { scheduled_for: at }),
    };
    const acted = await act(app, 'compose_tweet', args, options);
    mustBeTime(acted);
    tellAct<Item>(global, acted, ({ id, scheduled_for }) =>
      scheduled_for
        ? `Scheduled as ${id} for ${scheduled_for}. \`countersign up\` posts it when it runs.`
        : `Kept as draft ${id}. \`countersign x schedule move ${id} --at TIME\` schedules it.`,
    );
  });
}

export function moveItem(global: GlobalOptions, id: string, options: { at: string }): Promise<void> {
  return withApp(global, async (app) => {
    const acted = await act(app, 'update_draft', { id: numberOf(id), scheduled_for: options.at });
    mustBeTime(acted);
    tellAct<Item>(global, acted, (item) => `${item.id} is scheduled for ${item.scheduled_for}.`);
  });
}

export function cancelItem(global: GlobalOptions, id: string): Promise<void> {
  return withApp(global, async (app) => {
    const acted = await act(app, 'cancel_draft', { id: numberOf(id) });
    tellAct<Item>(global, acted, (item) => `${item.id} is cancelled; it stays in the history.`);
  });
}

export function listDrafts(global: GlobalOptions, options: { limit?: string }): Promise<void> {
  return withApp(global, async (app) => {
    const { items } = await look<{ items: Item[] }>(app, 'x', 'drafts', { limit: limitOf(options.limit) });
    if (global.json) return printJson(items);
    if (items.length === 0) return print('No drafts. `countersign x drafts add TEXT` keeps one.');
    print(
      table(
        ['ID', 'STATE', 'KIND', 'BY', 'CREATED', 'TEXT'],
        items.map((item) => [
          String(item.id),
          item.status,
          item.content_type,
          item.created_by,
          item.created_at.slice(0, 16).replace('T', ' '),
          item.error ? `${textOfItem(item)} [${oneLine(item.error, 40)}]` : textOfItem(item),
        ]),
      ),
    );
  });
}

/** The person typed --at; the tool's word for it would tell nothing. */
function mustBeTime({ outcome }: Awaited<ReturnType<typeof act>>): void {
  if (!('fault' in outcome) || outcome.fault.detail?.field !== 'scheduled_for') return;
  const message = outcome.fault.message.replace('scheduled_for', '--at');
  throw new CliError(message, message.includes('is not a time') ? 2 : 1);
}

function numberOf(text: string): number {
  const id = Number(text);
  if (!Number.isInteger(id) || id < 1) throw new CliError(`"${text}" is not the number of a draft.`, 2);
  return id;
}

const stateOf = ({ status, approval_id }: Item): string =>
  status === 'waiting_approval' && approval_id !== null ? `waits for approval ${approval_id}` : status;

const textOfItem = ({ content }: Item): string =>
  oneLine(
    typeof content === 'string' ? content : content.map((part, at) => `${at + 1}. ${part}`).join(' '),
    60,
  );

/** `Mon 2026-03-02 09:15` on the account's wall clock. */
function wallClock(iso: string | null, timeZone: string): string {
  if (iso === null) return '';
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(new Date(iso));
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '';
  return `${part('weekday')} ${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}`;
}
