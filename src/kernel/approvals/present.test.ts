import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import type { Presentation, PresentationDraft } from '../../contract/presentation.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Effect, Tool } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { makeBound, makeTool, PRESENTATION, SERVICES } from './present.fixture.ts';
import { describeRule, genericTitle, mainArgument, movesMoney, presentCall } from './present.ts';

type Made = Parameters<typeof makeTool>[0];

const present = (
  tool: Made,
  args: JsonObject = {},
  toolkit: Partial<BoundTool['toolkit']> = { title: 'Notes' },
): Promise<Presentation> =>
  presentCall(makeBound(makeTool(tool), toolkit), args, {
    principal: LOCAL_AGENT,
    binding: undefined,
    limitMs: 1_000,
  });
const presentDraft = (draft: PresentationDraft, args?: JsonObject, tool?: Made): Promise<Presentation> =>
  present({ ...tool, present: () => draft }, args);

describe('a call whose tool does not present it', () => {
  it('is shown from its schema', async () => {
    expect(await present({}, { text: 'Hello' })).toEqual({
      title: 'Send a note in Notes (live)',
      done: 'Send a note in Notes: done (live)',
      act: 'run',
      gist: 'Text: Hello',
      kind: 'call',
      target: { kind: 'toolkit', label: 'Notes', environment: 'live' },
      effect: { text: 'Changes data', detail: 'At Notes' },
      undo: { possible: false, text: 'No undo' },
      risks: [],
      body: [
        {
          type: 'fields',
          title: 'Arguments',
          rows: [{ name: 'text', label: 'Text', depth: 0, type: 'text', text: 'Hello' }],
          source: 'agent',
        },
      ],
      generic: true,
      money: false,
    });
  });

  it('has no body without arguments, and no main content without a text', async () => {
    expect(await present({}, {})).toMatchObject({ body: [], gist: null });
    expect(await present({}, { count: 5 })).toMatchObject({ gist: null });
    expect((await present({}, { text: 'word '.repeat(40) })).gist).toMatch(/^Text: (word ){20,31}word…$/u);
  });

  it('does not list the arguments that the tool declares to steer it, and every other', async () => {
    const steering = { dry_run: true, approval_id: 'a', idempotency_key: 'k' };
    const rowsOf = async (tool: Parameters<typeof present>[0]) => (await present(tool, steering)).body;
    expect(await rowsOf({ governanceArgs: ['dry_run', 'approval_id'] })).toMatchObject([
      { rows: [{ name: 'idempotency_key' }] },
    ]);
    expect(await rowsOf({})).toMatchObject([
      { rows: [{ name: 'dry_run' }, { name: 'approval_id' }, { name: 'idempotency_key' }] },
    ]);
  });

  it('is shown as a diff where it edits a file, with the other arguments', async () => {
    const edit = await present({}, { path: 'f', content: 'x', mode: 'w' });
    expect(edit).toMatchObject({
      kind: 'file',
      generic: true,
      body: [
        { type: 'diff' },
        { type: 'notice' },
        { title: 'Arguments', rows: [{ name: 'path' }, { name: 'mode' }] },
      ],
    });
  });

  it('of a third-party server names the server and its own name for the tool', async () => {
    const server = { category: 'server', name: 'files__write' } as const;
    expect(await present({ ...server, definition: { name: 'write' } })).toMatchObject({
      title: 'Run write on Notes (live)',
      kind: 'server',
      undo: { possible: null, text: 'Unknown', detail: 'The server offers no undo' },
    });
    const nameless: JsonObject[] = [{ name: 5 }, {}];
    for (const definition of nameless)
      expect((await present({ ...server, definition })).title).toBe('Run files__write on Notes (live)');
    expect((await present(server)).title).toBe('Run files__write on Notes (live)');
  });

  it('acts where its toolkit says, or else at the toolkit', async () => {
    const args = { text: 'x' };
    const target = { kind: 'account', label: '@acme', environment: 'sandbox' } as const;
    const asked: unknown[] = [];
    const toolkit: Partial<BoundTool['toolkit']> = {
      target(services, given, signal) {
        asked.push(services, given, signal.aborted);
        return target;
      },
    };
    expect((await present({}, args, toolkit)).target).toEqual(target);
    expect(asked).toEqual([SERVICES, args, false]);
    const failing = { title: 'Notes', target: () => Promise.reject(new Error('offline')) };
    expect((await present({}, args, failing)).target).toEqual({
      kind: 'toolkit',
      label: 'Notes',
      environment: 'live',
    });
    expect((await present({ reach: 'local' }, args, {})).target).toEqual({
      kind: 'toolkit',
      label: 'notes',
      environment: 'local',
    });
  });

  it('opens no connection to say where it acts, unless its toolkit needs one', async () => {
    const services = vi.fn(async () => SERVICES);
    const options = { principal: LOCAL_AGENT, binding: undefined, limitMs: 1_000 };
    await presentCall({ ...makeBound(makeTool()), services }, {}, options);
    expect(services).not.toHaveBeenCalled();
  });

  it.each<[Effect, object]>([
    [
      'destroy',
      {
        effect: { text: 'Deletes data', detail: 'At Notes' },
        act: 'delete',
        undo: { possible: false, text: 'No undo' },
      },
    ],
    [
      'change',
      {
        effect: { text: 'Changes data', detail: 'At Notes' },
        act: 'run',
        undo: { possible: false, text: 'No undo' },
      },
    ],
    [
      'read',
      {
        effect: { text: 'Reads data', detail: 'Changes nothing' },
        undo: { possible: true, text: 'Nothing to undo' },
      },
    ],
    [
      'propose',
      {
        effect: { text: 'Files a suggestion', detail: 'Changes nothing' },
        undo: { possible: true, text: 'Nothing to undo' },
      },
    ],
    ['decide', { effect: { text: 'Decides approvals' }, undo: { possible: false, text: 'No undo' } }],
  ])('with the effect %s says what it does and whether it can be undone', async (effect, expected) => {
    expect(await present({ effect })).toMatchObject(expected);
    expect((await present({ effect, category: 'server' })).undo.possible).toBe(
      { destroy: false, change: null, read: true, propose: true, decide: null }[effect],
    );
    expect((await present({ effect, rollback: () => undefined })).undo).toEqual({
      possible: true,
      text: 'Can be undone',
    });
  });

  it('on this machine says so', async () => {
    expect((await present({ reach: 'local' })).effect.detail).toBe('On this machine');
  });
});

describe('a call whose tool presents it', () => {
  afterEach(() => vi.useRealTimers());

  it('is shown as the tool says', async () => {
    const { title, done, generic, money, risks, body, gist, ...facts } = PRESENTATION;
    const draft = { ...facts, title: 'Tell @ada', done: 'Told @ada', gist: 'Hello', covers: ['text'] };
    expect(await presentDraft(draft, { text: 'Hello' })).toEqual({
      ...facts,
      title: 'Tell @ada (live)',
      done: 'Told @ada (live)',
      gist: 'Hello',
      risks: [],
      body: [],
      generic: false,
      money: false,
    });
  });

  it('is completed where the tool says nothing, but not guessed at', async () => {
    const args = { path: 'f', content: 'x' };
    const shown = await presentDraft({ title: 'Tell @ada' }, args);
    expect(shown).toMatchObject({
      title: 'Tell @ada (live)',
      done: 'Tell @ada: done (live)',
      act: 'run',
      gist: null,
      kind: 'call',
      effect: { text: 'Changes data' },
      body: [{ type: 'fields', title: 'Arguments', rows: [{ name: 'path' }, { name: 'content' }] }],
      generic: false,
    });
    expect(await presentDraft({ title: 'x', gist: '' })).toMatchObject({ gist: null });
  });

  it('lists what the body does not show as other arguments', async () => {
    const quote = { type: 'notice', level: 'note', text: 'Hello' } as const;
    const args = { text: 'Hello', to: 'ada' };
    expect((await presentDraft({ title: 'x', body: [quote], covers: ['text'] }, args)).body).toMatchObject([
      quote,
      { title: 'Other arguments', rows: [{ name: 'to' }] },
    ]);
    expect((await presentDraft({ title: 'x', body: [] }, args)).body).toMatchObject([
      { title: 'Arguments', rows: [{ name: 'text' }, { name: 'to' }] },
    ]);
  });

  it('gives the tool all it needs, and a signal that ends with the time limit', async () => {
    vi.useFakeTimers();
    const seen: Parameters<NonNullable<Tool['present']>>[1][] = [];
    const tool = makeTool({
      present(args, context) {
        seen.push(context);
        if (args.slow) vi.advanceTimersByTime(1_000);
        return { title: 'x' };
      },
    });
    const options = {
      principal: LOCAL_AGENT,
      asked: { at: new Date(0), context: { project: 1 } },
      binding: { commit: 'abc' },
      earlier: PRESENTATION,
      limitMs: 1_000,
    };
    await presentCall(makeBound(tool), {}, options);
    const { limitMs, ...given } = options;
    expect(seen[0]).toMatchObject({ ...given, services: SERVICES });
    // The limit ends with the work, so that nothing is stopped that continues after it.
    vi.advanceTimersByTime(limitMs);
    expect(seen[0]?.signal.aborted).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
    await presentCall(makeBound(tool), { slow: true }, options);
    expect(seen[1]?.signal.aborted).toBe(true);
  });

  it('warns first of money, and of every risk once', async () => {
    const draft: PresentationDraft = {
      title: 'x',
      risks: ['Destructive: no copy is kept', { level: 'danger', text: 'Reaches everyone' }],
    };
    const risks = () => ['Reaches everyone', 'Not Destructive', 'Cannot be undone', 'Slow'];
    const shown = await presentDraft(draft, {}, { effect: 'destroy', risks, movesMoney: true });
    expect(shown.money).toBe(true);
    expect(shown.risks).toEqual([
      { level: 'danger', text: 'Moves money' },
      { level: 'danger', text: 'Destructive: no copy is kept' },
      { level: 'danger', text: 'Reaches everyone' },
      { level: 'note', text: 'Not Destructive' },
      { level: 'danger', text: 'Cannot be undone' },
      { level: 'note', text: 'Slow' },
    ]);
    expect((await presentDraft(draft)).risks[0]).toEqual({
      level: 'note',
      text: 'Destructive: no copy is kept',
    });
  });
});

describe('the generic title', () => {
  it('ends without a period or question mark', () => {
    const title = (words: string) => genericTitle(makeTool({ title: words }), { label: 'Notes' });
    expect(title('Send v1.5?')).toBe('Send v1.5 in Notes');
    expect(title('Send.')).toBe('Send in Notes');
    expect(title('Send')).toBe('Send in Notes');
  });
});

describe('the argument that says most', () => {
  const main = (args: JsonObject, required?: unknown) => mainArgument(makeTool({ json: { required } }), args);

  it('is the first required text, or else the first text', () => {
    expect(main({ a: 'x', b: 'y' }, ['b'])).toBe('B: y');
    expect(main({ a: 'x', b: 'y' }, ['missing'])).toBe('A: x');
    expect(main({ a: 'x', b: 'y' })).toBe('A: x');
    expect(main({ a: 'x' }, 'b')).toBe('A: x');
  });

  it('is what is run, where that is among them', () => {
    expect(main({ database: 'main', sql: 'drop table a' }, ['database', 'sql'])).toBe('Sql: drop table a');
    expect(main({ host: 'a', shell_command: 'ls' })).toBe('Shell command: ls');
    expect(main({ database: 'main', statement: '' })).toBe('Database: main');
    expect(main({ title: 'x', sqlite: 'y' })).toBe('Title: x');
  });

  it('is neither empty nor an ID, and no part of another value', () => {
    expect(main({ a: '', b: 'y' })).toBe('B: y');
    expect(main({ group: { a: 'x' }, b: 'y' })).toBe('B: y');
    expect(main({ user_id: 'x', query: 'select 1' })).toBe('Query: select 1');
    expect(main({ user_id: 'x', count: 5 })).toBeUndefined();
  });
});

describe('money', () => {
  it('is moved where the tool says so, for these arguments', () => {
    const byAmount = makeTool({ movesMoney: ({ amount }) => amount === 5 });
    expect(movesMoney(byAmount, { amount: 5 })).toBe(true);
    expect(movesMoney(byAmount, { amount: 0 })).toBe(false);
    expect(movesMoney(makeTool({ movesMoney: true }), {})).toBe(true);
    expect(movesMoney(makeTool({ movesMoney: false }), {})).toBe(false);
    expect(movesMoney(makeTool(), {})).toBe(false);
  });
});

describe('a rule', () => {
  it.each([
    ['proposal', 'Suggestions'],
    ['permit', 'Permit requests'],
    ['default', 'Default policy'],
    ['template:a:b:safe_writes', 'Safe writes'],
    ['template', 'Template'],
    ['hard:destroy_approval', 'Built-in rule “Destroy approval”'],
    ['list:blocked_tools', 'List “Blocked tools”'],
    ['setting:dry_run', 'Setting “Dry run”'],
    ['agents-ask', 'Agents ask'],
    ['toString', 'To string'],
    ['constructor:own', 'Constructor:own'],
  ])('%s has the title %s', (id, title) => {
    expect(describeRule(id, 'why', undefined)).toMatchObject({ id, title });
  });

  it.each([
    ['proposal', 'x', undefined, 'Suggestions take effect only after a person accepts them.'],
    ['permit', 'x', undefined, 'This call requires a permit for exactly these arguments.'],
    ['hard:destroy_approval', 'x', undefined, 'Every destructive call requires approval.'],
    ['list:require_approval_for', 'x', undefined, 'This tool is on the list of tools that require approval.'],
    ['toString', 'too many calls', 'Label', 'Too many calls.'],
    ['r', "tool 'x' requires approval (it is loud)", 'Label', 'It is loud.'],
    ['r', "tool 'x' requires approval", 'Ask about notes!', 'Ask about notes!'],
    ['r', "tool 'x' requires approval", undefined, 'This rule requires approval for the tool.'],
    ['r', "A tool 'x' requires approval", 'Label', "A tool 'x' requires approval."],
    ['r', "tool 'x' requires approval now", 'Label', "Tool 'x' requires approval now."],
    ['r', 'Why. And more', undefined, 'Why. And more.'],
    ['r', 'really?', undefined, 'Really?'],
  ])('%s because of “%s” and the label %s is a sentence', (id, reason, label, sentence) => {
    expect(describeRule(id, reason, label).sentence).toBe(sentence);
  });
});
