import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPageWorld, type PageWorld } from './page-world.ts';
import { expectOnlyPins, expectPin } from './pin.ts';

type Json = Record<string, unknown>;

/** Parameters for the views that need some; the others are asked without. */
const PARAMS: Readonly<Record<string, (world: PageWorld) => Promise<Json> | Json>> = {
  'dev/run': async ({ person }) => ({ run_id: (await firstOf(person, '/pages/dev/runs', 'runs')).run_id }),
  'dev/issues': () => ({ repo: 'shop', state: 'all' }),
  'dev/issue': () => ({ repo: 'shop', number: 1 }),
  'dev/prs': () => ({ repo: 'shop', state: 'all' }),
  'dev/pr': () => ({ repo: 'shop', number: 3 }),
  'dev/diff': () => ({ repo: 'shop', number: 3 }),
  'dev/checks': () => ({ repo: 'shop', number: 3 }),
  'research/source': () => ({ source_id: 1 }),
  'research/marks': () => ({ source_id: 1 }),
  'research/code': () => ({ code_id: 1 }),
  'research/passage': () => ({ code_id: 4, source_id: 1, start_pos: 0, end_pos: 40 }),
  'research/batch': async ({ person }) => {
    const { items } = (await person.get('/inbox?state=pending&limit=200')) as { items: Json[] };
    return { batch_id: items.find(({ group_id }) => group_id !== null)?.group_id };
  },
  'assistant/transcript': async ({ person }) => ({
    id: (await firstOf(person, '/pages/assistant/sessions', 'sessions')).sessionId,
  }),
};

const CORE = [
  '/session',
  '/snippets',
  '/inbox',
  '/inbox?brief=1',
  '/inbox?state=all&limit=200',
  '/inbox?state=done,rejected&toolkit=x',
  '/inbox/count',
  '/activity?limit=500',
  '/activity?status=refused,failed&hours=5',
  '/agents',
  '/policy',
  '/insights',
  '/insights?days=1&tool=x_post_tweet',
  '/pages',
  '/log-keys',
];

const ERRORS = [
  '/inbox/999',
  '/inbox?limit=0',
  '/activity/none',
  '/insights?days=0',
  '/policy/matrix?principal=ada',
  '/pages/nowhere/drafts',
  '/pages/x/nothing',
  '/pages/x/drafts?params=[]',
  '/pages/dev/issue?params={}',
  '/pages/research/code?params={}',
  '/runs/none/export',
];

const TOOLKITS = ['x', 'dev', 'research', 'assistant'];
const FILES = [
  ...TOOLKITS.map((id) => `pages-${id}`),
  'shared',
  'approvals',
  'calls',
  'errors',
  'replay',
  'acts',
];

const firstOf = async (person: PageWorld['person'], path: string, list: string): Promise<Json> => {
  const { data } = (await person.get(path)) as { data: Record<string, Json[]> };
  return data[list]?.[0] ?? {};
};

/** Calls in order, but those of the loops by name: they start together, and which one reads first varies. */
const settleOrder = (calls: readonly Json[]): Json[] => {
  const isLoop = ({ principal }: Json): boolean => String(principal).startsWith('system:');
  const name = ({ tool, principal, status }: Json): string => `${tool} ${principal} ${status}`;
  const loops = calls.filter(isLoop).sort((a, b) => name(a).localeCompare(name(b)));
  return calls.map((call) => (isLoop(call) ? (loops.shift() ?? call) : call));
};

describe('the data of the pages', () => {
  let world: PageWorld;
  beforeAll(async () => {
    world = await openPageWorld();
  });
  afterAll(async () => {
    expectOnlyPins(
      'pages',
      FILES.map((name) => `${name}.json`),
    );
    await world.close();
  });
  const pin = (name: string, value: unknown): void => {
    expect(FILES).toContain(name);
    expectPin(`pages/${name}.json`, world.normaliser()(value));
  };
  const answers = async (paths: readonly string[]): Promise<Json> => {
    const found: Json = {};
    for (const path of paths) {
      const { status, body } = await world.person.answer(path);
      const { calls } = (body ?? {}) as { calls?: Json[] };
      found[path] = { status, body: calls ? { ...(body as Json), calls: settleOrder(calls) } : body };
    }
    return found;
  };

  it('is as pinned for every view of every toolkit', async () => {
    const { pages } = (await world.person.get('/pages')) as { pages: { id: string; views: string[] }[] };
    expect(pages.map(({ id }) => id)).toEqual(TOOLKITS);
    for (const { id, views } of pages) {
      const found: Json = {};
      for (const view of views) {
        const params = (await PARAMS[`${id}/${view}`]?.(world)) ?? {};
        const query = `params=${encodeURIComponent(JSON.stringify(params))}`;
        const { status, body } = await world.person.answer(`/pages/${id}/${view}?${query}`);
        expect(status, `${view} ${JSON.stringify(body)}`).toBe(200);
        found[view] = body;
      }
      pin(`pages-${id}`, found);
    }
  });

  it('is as pinned for the pages that all toolkits share', async () => {
    pin('shared', await answers(CORE));
  });

  it('is as pinned for every approval', async () => {
    const { items } = (await world.person.get('/inbox?state=all&limit=200')) as { items: { id: number }[] };
    const ids = items.map(({ id }) => id).sort((a, b) => a - b);
    pin('approvals', await answers(ids.map((id) => `/inbox/${id}`)));
  });

  it('is as pinned for one call of each tool and outcome, with its proof, and for a run', async () => {
    const { calls } = (await world.person.get('/activity?limit=500')) as { calls: Json[] };
    const kinds = new Map(settleOrder(calls).map((call) => [`${call.tool} ${call.status}`, call]));
    const found: Json = {};
    for (const kind of [...kinds.keys()].sort())
      found[kind] = await world.person.answer(`/activity/${kinds.get(kind)?.call_id}`);
    const run = calls.find(({ run_id }) => run_id !== null)?.run_id;
    found.run = await world.person.answer(`/runs/${run}/export`);
    pin('calls', found);
  });

  it('is as pinned where a request is wrong', async () => {
    pin('errors', await answers(ERRORS));
  });

  it('is as pinned for the replay of a rule', async () => {
    const rule = { id: 'ask-likes', tools: ['x_like_tweet'], action: 'ask' };
    pin('replay', await world.person.post('/policy/replay', { rule }));
  });

  // The last, because it changes what the others read.
  it('is as pinned for what a person does on them', async () => {
    const { items, indeterminate } = (await world.person.get('/inbox?limit=200')) as {
      items: { id: number; tool: string }[];
      indeterminate: { call_id: string }[];
    };
    const idOf = (tool: string) => items.find((item) => item.tool === tool)?.id;
    const post = idOf('x_post_tweet');
    const settle = `/calls/${indeterminate[0]?.call_id}/settle`;
    const acts: readonly [method: string, path: string, body: object][] = [
      ['POST', `/inbox/${post}/edit`, { args: { text: 'Release 2.4 is out.' } }],
      ['POST', `/inbox/${post}/edit`, { args: { txt: 'Release' } }],
      ['POST', `/inbox/${post}/approve`, { version: 1 }],
      ['POST', `/inbox/${post}/approve`, { note: 'Good' }],
      ['POST', `/inbox/${post}/approve`, {}],
      ['POST', `/inbox/${post}/undo`, {}],
      ['POST', `/inbox/${post}/undo`, {}],
      ['POST', `/inbox/${idOf('x_post_thread')}/reject`, { reason: 'Too long', feedback: 'One post' }],
      ['POST', '/inbox/approve', { ids: [idOf('apply_code'), 999] }],
      ['POST', '/inbox/reject', { ids: [idOf('merge_codes'), 999], reason: 'Keep both' }],
      ['POST', settle, { happened: false }],
      ['POST', settle, { happened: true }],
      ['POST', '/agents', { name: 'day-shift' }],
      ['POST', '/agents', { name: 'day-shift' }],
      ['DELETE', '/agents/day-shift', {}],
      ['DELETE', '/agents/day-shift', {}],
      ['POST', '/tools/x_delete_tweet', { arguments: { tweet_id: '1' } }],
      ['POST', '/tools/x_post_tweet', { arguments: { txt: 'Hello' } }],
      ['POST', '/tools/x_post_tweet', { arguments: { text: 'Hello from the page' }, approve: true }],
      ['POST', '/tools/nothing', {}],
      ['POST', '/pause', {}],
      ['POST', '/tools/x_like_tweet', { arguments: { tweet_id: '1234567890' } }],
      ['POST', '/resume', {}],
      ['PUT', '/policy', { mode: 'composer', template: 'agency_mode', rules: [] }],
      ['PUT', '/policy', { rules: [{ id: 'a', tools: ['x_nothing'], action: 'deny' }] }],
      ['POST', '/policy/replay', { rule: {} }],
    ];
    const found: unknown[] = [];
    for (const [method, path, body] of acts)
      found.push({ act: `${method} ${path}`, ...(await world.person.answer(path, method, body)) });
    pin('acts', found);
  });
});
