import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type ActOptions,
  CliError,
  type CommandApp,
  type CommandHost,
  type DataOf,
} from '../../../contract/command.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { lookup } from '../../../lib/lookup.ts';
import { xUploadMedia } from '../tools/media.ts';
import { xPostTweet, xPostTweetDryRun, xReplyToTweet } from '../tools/posts.ts';
import { xPostThread, xPostThreadDryRun } from '../tools/threads.ts';

interface PostOptions extends ActOptions {
  readonly media?: readonly string[];
  readonly dryRun?: boolean;
}

/** Posts as the person, under the same limits and policy as any agent. */
export function post(host: CommandHost, text: string, options: PostOptions): Promise<void> {
  return host.open(async (app) => {
    const wanted = { text: textOf(text) };
    const media = await upload(app, options);
    if (media === undefined) return;
    if (options.dryRun) return app.printOutcome(await app.act(xPostTweetDryRun, wanted), preview);
    const acted = await app.act(xPostTweet, { ...wanted, ...media }, options);
    app.printOutcome(acted, ({ id }, notes) => `Posted${place(id, notes)}`);
  });
}

export function reply(host: CommandHost, id: string, text: string, options: PostOptions): Promise<void> {
  return host.open(async (app) => {
    const media = await upload(app, options);
    if (media === undefined) return;
    const args = { in_reply_to_id: postIdOf(id), text: textOf(text), ...media };
    const acted = await app.act(xReplyToTweet, args, options);
    app.printOutcome(acted, (data, notes) => `Replied${place(data.id, notes)}`);
  });
}

export function thread(host: CommandHost, parts: readonly string[], options: PostOptions): Promise<void> {
  return host.open(async (app) => {
    const tweets = parts.length === 1 && parts[0] === '-' ? partsOf(textOf('-')) : [...parts];
    if (tweets.length < 2)
      throw new CliError('A thread needs at least two parts. Example: countersign x thread "One" "Two"', 2);
    if (options.dryRun) return app.printOutcome(await app.act(xPostThreadDryRun, { tweets }), preview);
    const acted = await app.act(xPostThread, { tweets }, options);
    app.printOutcome(
      acted,
      (data, notes) => `Posted ${data.tweet_count} parts${place(data.root_tweet_id, notes)}`,
    );
  });
}

/** A sandbox post has no address: nothing reached X. */
const place = (id: string, notes: JsonObject): string =>
  notes.sandbox === true
    ? ` in the local sandbox as ${id}; nothing reached X.`
    : `: https://x.com/i/status/${id}`;

/** `-` takes the text from standard input, for texts that a shell would mangle. */
export function textOf(text: string): string {
  const given = text === '-' ? readFileSync(0, 'utf8').replace(/\n$/, '') : text;
  if (given.trim() === '') throw new CliError('The text is empty.', 2);
  return given;
}

/** A post's number, also out of its address. */
export function postIdOf(text: string): string {
  const id = /^(?:https?:\/\/(?:www\.)?(?:x|twitter)\.com\/[^/]+\/status\/)?(\d{1,19})(?:[/?#].*)?$/.exec(
    text,
  )?.[1];
  if (!id) throw new CliError(`Invalid post "${text}". Use the ID or URL of a post.`, 2);
  return id;
}

const partsOf = (text: string): string[] =>
  text
    .split(/^\s*-{3,}\s*$/mu)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** The lengths and limits as the dry-run tool sees them, and what policy would say to the real call. */
const preview = ({ tweets, limits, policy }: DataOf<typeof xPostTweetDryRun>): string =>
  [
    ...tweets.map(({ text, length, remaining }) => `${length} characters (${remaining} left): ${text}`),
    `Limits: ${limits.map(({ action, used, max }) => `${action} ${used} of ${max}`).join(', ')}.`,
    `${lookup(VERDICTS, policy.decision) ?? policy.decision} (${policy.reason}).`,
    'Nothing was posted.',
  ].join('\n');

const VERDICTS: Readonly<Record<string, string>> = {
  allow: 'Policy allows it',
  ask: 'Approval would be required',
  dry_run: 'Policy would run it as a dry run',
  deny: 'Policy denies it',
};

/**
 * Undefined when a file was not uploaded: then nothing is posted, and the reason was printed. A dry run only checks the
 * files.
 */
async function upload(
  app: CommandApp,
  { media = [], approve, dryRun }: PostOptions,
): Promise<{ media_ids?: string[] } | undefined> {
  const ids: string[] = [];
  for (const file of media) {
    const wanted = { file_path: resolve(file), ...(dryRun ? { dry_run: true } : {}) };
    const acted = await app.act(xUploadMedia, wanted, { approve });
    if (dryRun && acted.outcome.status === 'dry_run') continue;
    if (acted.data === undefined) {
      app.printOutcome(acted, () => '');
      return undefined;
    }
    ids.push(acted.data.media_id);
  }
  return ids.length > 0 ? { media_ids: ids } : {};
}
