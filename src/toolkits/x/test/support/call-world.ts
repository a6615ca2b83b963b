import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallWorld, NAMED_POSTS } from '../../../../../test/support/calls/x.ts';
import type { App } from '../../../../app/app.ts';
import type { JsonObject } from '../../../../contract/json.ts';
import type { Approval, Proposal } from '../../../../contract/ports.ts';
import { LOCAL_AGENT } from '../../../../contract/principal.ts';
import { ApprovalQueue } from '../../../../kernel/approvals/queue.ts';
import type { Sandbox } from '../../emulator/start.ts';
import type { TestModel } from './model.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A picture in the folder media may come from. */
export function putMedia(dataDir: string): void {
  mkdirSync(join(dataDir, 'media'), { recursive: true });
  writeFileSync(join(dataDir, 'media', 'dot.png'), PNG);
}

/** The world of a process on this store: a post of someone else, one of our own, and what a person can do. */
export async function liveWorld(
  app: App,
  dataDir: string,
  model: TestModel,
  sandbox: Pick<Sandbox, 'control'>,
): Promise<CallWorld> {
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
    ids: {
      ...(await namedPosts(sandbox)),
      $post: first.id,
      $user: first.author_id,
      $own: String(own.id),
      $dir: dataDir,
    },
    data,
    // An agent is shown its own changes only.
    callId: async (tool, args) => (await invoke(tool, args, LOCAL_AGENT)).callId,
    pending: () => pending(app, first.id),
    answerOnce: (text) => model.answerOnce(text),
  };
}

/** Enough for calls that never get as far as X. */
export const emptyWorld = (app: App, dataDir: string): CallWorld => ({
  ids: {
    ...Object.fromEntries(Object.keys(NAMED_POSTS).map((word, index) => [word, String(index + 1)])),
    $post: '1234567890',
    $user: '2001000002',
    $own: '1234567891',
    $dir: dataDir,
  },
  data: async () => ({}),
  callId: async () => '',
  pending: () => pending(app, '1234567890'),
  answerOnce() {},
});

/** Asks as if everything were well: a call that cannot succeed now would be refused before a person is asked. */
export function askInAdvance({ kernel, inventory }: App, proposal: Proposal): Promise<Approval> {
  const resolve = async (name: string) => {
    const bound = await inventory.resolve(name);
    return bound && { ...bound, tool: { ...bound.tool, present: undefined, check: undefined } };
  };
  return new ApprovalQueue({ ...kernel.queue.ports, resolve }).propose(proposal);
}

const pending = async (app: App, tweet_id: string): Promise<number> => {
  const { id } = await askInAdvance(app, {
    tool: 'x_like_tweet',
    args: { tweet_id },
    requester: { kind: 'agent', id: 'other' },
    reason: 'asked',
  });
  return id;
};

/** Ids of the seeded posts that calls name by a word. */
export async function namedPosts(sandbox: Pick<Sandbox, 'control'>): Promise<Record<string, string>> {
  const look = await sandbox.control('look', { collection: 'posts' });
  const items = (look.items ?? []) as { id: string; text: string }[];
  return Object.fromEntries(
    Object.entries(NAMED_POSTS).map(([word, start]) => {
      const id = items.find(({ text }) => text.startsWith(start))?.id;
      if (!id) throw new Error(`The sandbox has no post that begins with ${start}`);
      return [word, id];
    }),
  );
}
