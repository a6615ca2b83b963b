import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isChange } from '../../src/contract/effect.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import { toolkit } from '../../src/toolkits/x/toolkit.ts';
import { APPROVED_CALLS, SEEDED, withIds } from '../support/x-approved-calls.ts';
import { openXPlace, POLICY, type XPlace } from '../support/x-place.ts';
import { type Sent, startXWire, type XWire } from '../support/x-wire.ts';

/** A server on an X of its own: what it sends there is compared with what the other one sends to its own. */
interface Side {
  readonly wire: XWire;
  readonly place: XPlace;
  readonly ids: Readonly<Record<string, string>>;
  readonly seeded: ReadonlySet<string>;
}

const LATER = new Date(Date.now() + 3_600_000).toISOString();

describe('a call that a person approved, for each changing tool of toolkit x', () => {
  let direct: Side;
  let routed: Side;

  beforeAll(async () => {
    [direct, routed] = await Promise.all([openSide(''), openSide('approval_mode = true\n')]);
  });
  afterAll(async () => {
    for (const { place, wire } of [direct, routed]) {
      await place.close();
      await wire.close();
    }
  });

  /** Makes the call at once; what only a person may allow is allowed beforehand. */
  const make = async (tool: string, args: JsonObject): Promise<Made> => {
    const { place, wire } = direct;
    if (toolkit.tools.find(({ name }) => name === tool)?.effect === 'destroy') await place.permit(tool, args);
    wire.sent.length = 0;
    const { data, error } = await place.call(tool, args);
    if (!data) throw new Error(`${tool}: ${error?.code} ${error?.message}`);
    return { sent: told(direct), data };
  };

  /** The agent's call waits; nothing reaches X before a person says so. */
  const route = async (tool: string, args: JsonObject): Promise<number> => {
    routed.wire.sent.length = 0;
    const answer = await routed.place.call(tool, args);
    expect(answer, tool).toMatchObject({ success: true, data: { routed_to_approval: true } });
    expect(routed.wire.sent, tool).toEqual([]);
    return Number(answer.data?.approval_queue_id);
  };

  /** The person at the client agrees. */
  const approve = async (id: number): Promise<Made> => {
    routed.wire.sent.length = 0;
    const { data, error } = await routed.place.call('approve_item', { id });
    if (!data) throw new Error(`item ${id}: ${error?.code} ${error?.message}`);
    expect(data).toMatchObject({ id, status: 'done', executed: true });
    return { sent: told(routed), data: data.result as JsonObject };
  };

  it('covers them all', () => {
    const changing = toolkit.tools.filter(({ effect, profiles }) => isChange(effect) && profiles.length > 0);
    expect(APPROVED_CALLS.map(([tool]) => tool).sort()).toEqual(changing.map(({ name }) => name).sort());
  });

  it.each(APPROVED_CALLS)(
    '%s sends X exactly what the agent asked for, or what the person made of it',
    async (tool, args, change) => {
      const asked = withIds(args, routed.ids);
      const ids = [await route(tool, asked), await route(tool, asked)] as const;
      const { approvals } = routed.place.app.kernel;
      await approvals.edit(ids[1], routed.place.app.person, { ...asked, ...withIds(change, routed.ids) });
      const own = withIds(args, direct.ids);
      const pairs = [
        [await make(tool, own), await approve(ids[0])],
        [await make(tool, { ...own, ...withIds(change, direct.ids) }), await approve(ids[1])],
      ] as const;
      for (const [made, approved] of pairs) {
        expect(approved.sent).toEqual(made.sent);
        expect(Object.keys(approved.data).sort()).toEqual(Object.keys(made.data).sort());
        if (tool === 'compose_tweet') expect(approved.data).toEqual({ ...made.data, id: approved.data.id });
        else expect(made.sent.some(({ method }) => method !== 'GET')).toBe(true);
      }
      // An edit that changes nothing would show nothing.
      if (tool !== 'x_v2_users_unpin_tweet' && tool !== 'compose_tweet')
        expect(pairs[1][0].sent).not.toEqual(pairs[0][0].sent);
    },
  );
});

interface Made {
  readonly sent: readonly Sent[];
  readonly data: JsonObject;
}

async function openSide(mode: string): Promise<Side> {
  const wire = await startXWire();
  const place = await openXPlace({ config: `${mode}${wire.settings}`, policy: POLICY, tokens: wire.tokens });
  const look = await wire.sandbox.control('look', { collection: 'posts' });
  const posts = look.items as { id: string; text: string }[];
  const found = Object.entries(SEEDED).map(([word, start]) => {
    const id = posts.find(({ text }) => text.startsWith(start))?.id;
    if (!id) throw new Error(`The sandbox has no post that begins with ${start}`);
    return [word, id] as const;
  });
  const [$one, $two] = [await upload(place, 'one'), await upload(place, 'two')];
  // Known from here on, so that no request of one side asks for it when the other need not.
  await place.call('x_get_bookmarks', {});
  return {
    wire,
    place,
    ids: { ...Object.fromEntries(found), $one, $two, $dir: place.dir, $later: LATER },
    seeded: new Set(posts.map(({ id }) => id)),
  };
}

async function upload({ app, dir }: XPlace, alt_text: string): Promise<string> {
  const bound = await app.inventory.resolve('x_upload_media');
  if (!bound) throw new Error('No such tool');
  const args = { file_path: `${dir}/media/dot.png`, alt_text };
  const { callId, outcome } = await app.kernel.invoke({
    bound,
    args,
    principal: app.person,
    transport: 'test',
  });
  if (outcome.status === 'routed') {
    const decided = await app.kernel.approvals.approve(outcome.approvalId, app.person);
    return mediaId(decided.outcome ?? outcome, callId);
  }
  return mediaId(outcome, callId);
}

function mediaId(outcome: { readonly status: string; readonly data?: unknown }, call: string): string {
  const { media_id } = (outcome.data ?? {}) as { media_id?: string };
  if (!media_id) throw new Error(`The upload ${call} was ${outcome.status}`);
  return media_id;
}

/** What was sent, with the ids each X made up for itself numbered as they come. */
function told({ wire, seeded, ids }: Side): Sent[] {
  const named = new Map(Object.entries(ids).map(([word, id]) => [id, word]));
  const met: string[] = [];
  const plain = (text: string): string =>
    text.replace(/\d{19}/g, (id) => {
      if (seeded.has(id) || /^1[567]0{10}/.test(id)) return id;
      const word = named.get(id);
      if (word) return word;
      if (!met.includes(id)) met.push(id);
      return `#${met.indexOf(id)}`;
    });
  return wire.sent.map(({ method, host, path, body }) => ({
    method,
    host,
    path: plain(path),
    body: plain(body),
  }));
}
