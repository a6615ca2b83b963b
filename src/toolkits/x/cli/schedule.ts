import { type Acted, type ActOptions, CliError, type CommandHost } from '../../../contract/command.ts';
import type { ViewData } from '../../../contract/view.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { limitOf, oneLine } from '../../../terminal/text.ts';
import { cancelDraft, composeTweet, updateDraft } from '../tools/drafts.ts';
import { views } from '../views.ts';
import { textOf } from './post.ts';

type Item = ViewData<typeof views.drafts>['items'][number];

interface ComposeOptions extends ActOptions {
  readonly thread?: boolean;
}

export function listSchedule(host: CommandHost, options: { limit?: string; past?: boolean }): Promise<void> {
  return host.open(async (app) => {
    const shown = await app.view(views, 'schedule', { limit: limitOf(options.limit) });
    if (host.options.json) return printJson(shown);
    const { timezone, active_hours_start: from, active_hours_end: to, active_days } = shown;
    const days = active_days.length === 7 ? 'every day' : active_days.join(' ');
    print(`Active hours ${from}:00 to ${to}:00, ${days}. Times are in ${timezone}.\n`);
    const upcoming = [...shown.upcoming].sort((a, b) =>
      (a.scheduled_for ?? '').localeCompare(b.scheduled_for ?? ''),
    );
    if (upcoming.length === 0)
      print('No scheduled posts. To add one: countersign x schedule add TEXT --at TIME');
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
      print('\nScheduled posts go out while `countersign up` is running.');
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
  host: CommandHost,
  text: string,
  options: ComposeOptions & { at: string },
): Promise<void> {
  return compose(host, text, options, options.at);
}

export const addDraft = (host: CommandHost, text: string, options: ComposeOptions): Promise<void> =>
  compose(host, text, options);

function compose(host: CommandHost, text: string, options: ComposeOptions, at?: string): Promise<void> {
  return host.open(async (app) => {
    const args = {
      content: textOf(text),
      content_type: options.thread ? 'thread' : 'tweet',
      ...(at === undefined ? {} : { scheduled_for: at }),
    };
    const acted = await app.act(composeTweet, args, options);
    mustBeTime(acted);
    app.printOutcome(acted, ({ id, scheduled_for }) =>
      scheduled_for
        ? `Scheduled post ${id} for ${scheduled_for}. It goes out while \`countersign up\` is running.`
        : `Saved draft ${id}. To schedule it: countersign x schedule move ${id} --at TIME`,
    );
  });
}

export function moveItem(host: CommandHost, id: string, options: { at: string }): Promise<void> {
  return host.open(async (app) => {
    const acted = await app.act(updateDraft, { id: numberOf(id), scheduled_for: options.at });
    mustBeTime(acted);
    app.printOutcome(acted, (item) => `Scheduled post ${item.id} for ${item.scheduled_for}.`);
  });
}

export function cancelItem(host: CommandHost, id: string): Promise<void> {
  return host.open(async (app) => {
    const acted = await app.act(cancelDraft, { id: numberOf(id) });
    app.printOutcome(acted, (item) => `Cancelled ${item.id}. It stays in the history.`);
  });
}

export function listDrafts(host: CommandHost, options: { limit?: string }): Promise<void> {
  return host.open(async (app) => {
    const { items } = await app.view(views, 'drafts', {
      limit: limitOf(options.limit),
    });
    if (host.options.json) return printJson(items);
    if (items.length === 0) return print('No drafts. To save one: countersign x drafts add TEXT');
    print(
      table(
        ['ID', 'STATE', 'KIND', 'BY', 'CREATED', 'TEXT'],
        items.map((item) => [
          String(item.id),
          item.status,
          item.content_type,
          item.created_by,
          `${item.created_at.slice(0, 16)}Z`,
          item.error ? `${textOfItem(item)} [${oneLine(item.error, 40)}]` : textOfItem(item),
        ]),
      ),
    );
  });
}

/** The person typed --at; the tool's word for it would tell nothing. */
function mustBeTime({ outcome }: Acted): void {
  if (!('fault' in outcome) || outcome.fault.detail?.field !== 'scheduled_for') return;
  const message = outcome.fault.message.replace('scheduled_for', '--at');
  throw new CliError(message, message.includes('is not a time') ? 2 : 1);
}

function numberOf(text: string): number {
  const id = Number(text);
  if (!Number.isInteger(id) || id < 1) throw new CliError(`Invalid draft ID "${text}".`, 2);
  return id;
}

const stateOf = ({ status, approval_id }: Item): string =>
  status === 'waiting_approval' && approval_id !== null ? `pending approval ${approval_id}` : status;

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
