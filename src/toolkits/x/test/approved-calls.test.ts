import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withIds, X_CALLS } from '../../../../test/support/calls/x.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { isChange } from '../../../contract/tool.ts';
import { toolkit } from '../toolkit.ts';
import { namedPosts } from './support/call-world.ts';
import { openXPlace, POLICY, type XPlace } from './support/place.ts';
import { type Sent, startXWire, type XWire } from './support/wire.ts';

/** A server on an X of its own: what it sends there is compared with what the other one sends to its own. */
interface Side {
  readonly wire: XWire;
  readonly place: XPlace;
  readonly ids: Readonly<Record<string, string>>;
  readonly seeded: ReadonlySet<string>;
}

const APPROVED_CALLS = X_CALLS.flatMap(({ tool, args, edit }) =>
  typeof args === 'object' && edit ? [[tool, args, edit] as const] : [],
);
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

  /** Makes the call immediately; what only a person may allow is allowed in advance. */
  const make = async (tool: string, args: JsonObject): Promise<Made> => {
    const { place, wire } = direct;
    if (toolkit.tools.find(({ name }) => name === tool)?.effect === 'destroy') await place.permit(tool, args);
    wire.sent.length = 0;
    const { data, error } = await place.call(tool, args);
    if (!data) throw new Error(`${tool}: ${error?.code} ${error?.message}`);
    return { sent: told(direct), data };
  };

  /** The agent's call waits; X is read to show it, and nothing is changed before a person says so. */
  const route = async (tool: string, args: JsonObject): Promise<number> => {
    routed.wire.sent.length = 0;
    const answer = await routed.place.call(tool, args);
    expect(answer, tool).toMatchObject({ success: true, data: { routed_to_approval: true } });
    expect(
      routed.wire.sent.filter(({ method }) => method !== 'GET'),
      tool,
    ).toEqual([]);
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
      const edited = await route(tool, asked);
      const { approvals } = routed.place.app.kernel;
      await approvals.edit(edited, routed.place.app.person, { ...asked, ...withIds(change, routed.ids) });
      const plain = await route(tool, asked);
      const own = withIds(args, direct.ids);
      const first = [await make(tool, own), await approve(plain)] as const;
      // An edit that changes nothing leaves the call equal, and an equal call is pending once.
      const second = edited === plain ? await route(tool, asked) : edited;
      const pairs = [
        first,
        [await make(tool, { ...own, ...withIds(change, direct.ids) }), await approve(second)],
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
  const posts = look.items as { id: string }[];
  const named = await namedPosts(wire.sandbox);
  const [$one, $two] = [await upload(place, 'one'), await upload(place, 'two')];
  // Known from here on, so that no request of one side asks for it when the other need not.
  await place.call('x_get_bookmarks', {});
  return {
    wire,
    place,
    ids: {
      ...named,
      $post: named.$mirror ?? '',
      $own: named.$mirrorquote ?? '',
      $user: '2001000016',
      $one,
      $two,
      $dir: place.dir,
      $later: LATER,
    },
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

/** A time as requests carry it, and how far the two sides of one comparison may lie apart. */
const TIME = /\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\dZ/g;
const MINUTE = 60_000;
const DEFAULTS = [
  ['$now', 0],
  ['$in30days', 30 * 24 * 60 * MINUTE],
] as const;

/** The times a call takes when it names none, which go by the clock, as words. */
function withoutClock(text: string): string {
  return text.replace(TIME, (time) => {
    const ahead = Date.parse(decodeURIComponent(time)) - Date.now();
    return DEFAULTS.find(([, from]) => Math.abs(ahead - from) < 5 * MINUTE)?.[0] ?? time;
  });
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
    body: withoutClock(plain(body)),
  }));
}
