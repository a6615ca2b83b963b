import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../src/app.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import { LOCAL_AGENT } from '../../src/contract/principal.ts';
import type { Sandbox } from '../../src/sandbox/start.ts';
import { type CallWorld, curatedCalls } from './x-curated-calls.ts';
import { fillIds, GENERATED_CALLS, NAMED_POSTS } from './x-generated-calls.ts';
import type { TestModel } from './x-model.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A picture in the folder media may come from. */
export function putMedia(dataDir: string): void {
  mkdirSync(join(dataDir, 'media'), { recursive: true });
  writeFileSync(join(dataDir, 'media', 'dot.png'), PNG);
}

/** The world of a process on this store: a post of somebody else, one of our own, and what a person can do. */
export async function liveWorld(app: App, dataDir: string, model: TestModel): Promise<CallWorld> {
  const invoke = async (tool: string, args: JsonObject, principal = app.person) => {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    return app.kernel.invoke({ bound, args, principal, transport: 'test' });
  };
  const data = async (tool: string, args: JsonObject): Promise<JsonObject> => {
    const { outcome } = await invoke(tool, args);
    if (outcome.status !== 'ok') throw new Error(`${tool}: ${JSON.stringify(outcome)}`);
    return outcome.data as JsonObject;
  };
  const [first] = (await data('x_search_tweets', { query: 'monitoring' })).tweets as {
    id: string;
    author_id: string;
  }[];
  if (!first) throw new Error('The sandbox has no post to work with.');
  const own = await data('x_post_tweet', { text: 'A post to work with' });
  return {
    post: first.id,
    user: first.author_id,
    own: String(own.id),
    dataDir,
    data,
    // An agent is shown its own changes only.
    callId: async (tool, args) => (await invoke(tool, args, LOCAL_AGENT)).callId,
    pending: () => pending(app, first.id),
    answerOnce: (text) => model.answerOnce(text),
  };
}

/** Enough for calls that never get as far as X. */
export const emptyWorld = (app: App, dataDir: string): CallWorld => ({
  post: '1234567890',
  user: '2001000002',
  own: '1234567891',
  dataDir,
  data: async () => ({}),
  callId: async () => '',
  pending: () => pending(app, '1234567890'),
  answerOnce() {},
});

const pending = async (app: App, tweet_id: string): Promise<number> => {
  const { id } = await app.kernel.approvals.propose({
    tool: 'x_like_tweet',
    args: { tweet_id },
    requester: { kind: 'agent', id: 'other' },
    reason: 'asked',
  });
  return id;
};

/** Ids of the posts that `GENERATED_CALLS` names by a word. */
export async function namedPosts(sandbox: Pick<Sandbox, 'control'>): Promise<Record<string, string>> {
  const look = await sandbox.control('look', { collection: 'posts' });
  const items = (look.items ?? []) as { id: string; text: string }[];
  return Object.fromEntries(
    Object.entries(NAMED_POSTS).map(([name, start]) => [
      name,
      items.find(({ text }) => text.startsWith(start))?.id ?? '',
    ]),
  );
}

/** Arguments for one call of a tool, of either kind. */
export function callArgs(world: CallWorld, known: Readonly<Record<string, string>>) {
  const curated = curatedCalls(world);
  const generated = new Map(GENERATED_CALLS.map(([name, args]) => [name as string, args]));
  return async (name: string): Promise<JsonObject> => {
    const args = generated.get(name);
    return args ? fillIds(args, known) : ((await curated[name]?.()) ?? {});
  };
}
