import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Approval } from '../../contract/ports.ts';
import type { Presentation } from '../../contract/presentation.ts';
import type { ChangePreview } from '../../contract/preview.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Tool } from '../../contract/tool.ts';
import { makeBound, makeTool, PRESENTATION } from './present.fixture.ts';
import { SHOWING_MS } from './present.ts';
import {
  diffEvidence,
  presentAsked,
  presentStored,
  type StoredPresentation,
  sealPresentation,
  shownColumns,
  storePresentation,
} from './presentations.ts';

const file = {
  path: 'f',
  status: 'modified',
  additions: 1,
  deletions: 0,
  binary: false,
  patch: '+x\n',
} as const;
const DIFF: ChangePreview = { base_commit: 'abc', files: [file, { ...file, patch: '+y\n' }] };

const stored = (more: Partial<StoredPresentation> = {}): StoredPresentation => ({
  presentation: PRESENTATION,
  added: [],
  said: 'Please.',
  asked: 'it is loud',
  ...more,
});

describe('a presentation that is asked', () => {
  const words = { principal: LOCAL_AGENT, binding: undefined, said: 'Please.', asked: 'it is loud' };
  const bound = (gist?: string) =>
    makeBound(
      makeTool({ present: () => ({ title: 'x', risks: ['Slow', 'Loud'], ...(gist ? { gist } : {}) }) }),
    );

  it('has the notes of the requester after those of the tool, each once', async () => {
    const asked = await presentAsked(bound(), {}, { ...words, risks: ['Loud', 'Late'] });
    const added = [
      { level: 'note', text: 'Loud' },
      { level: 'note', text: 'Late' },
    ];
    expect(asked).toMatchObject({ added, said: 'Please.', asked: 'it is loud' });
    expect(asked.presentation.risks).toEqual([{ level: 'note', text: 'Slow' }, ...added]);
    const plain = await presentAsked(bound(), {}, words);
    expect(plain.added).toEqual([]);
    expect(plain.presentation.risks.map(({ text }) => text)).toEqual(['Slow', 'Loud']);
  });

  it("has the tool's main content, else the requester's", async () => {
    const gistOf = async (own?: string, given?: string) =>
      (await presentAsked(bound(own), {}, { ...words, gist: given })).presentation.gist;
    expect(await gistOf('own', 'given')).toBe('own');
    expect(await gistOf(undefined, 'given')).toBe('given');
    expect(await gistOf()).toBeNull();
  });

  it('passes on who asks and what the permit is bound to', async () => {
    const seen: unknown[] = [];
    const tool = makeTool({
      present(_args, { principal, binding, earlier, asked }) {
        seen.push(principal, binding, earlier, asked);
        return { title: 'x' };
      },
    });
    await presentAsked(makeBound(tool), {}, { ...words, binding: { commit: 'abc' } });
    expect(seen).toEqual([LOCAL_AGENT, { commit: 'abc' }, undefined, undefined]);
  });

  it('fills the columns that lists read', () => {
    const risks = [{ level: 'danger', text: 'Loud' }] as const;
    expect(shownColumns(stored({ presentation: { ...PRESENTATION, gist: 'g', risks } }))).toEqual({
      summary: 'Send a note (live)',
      gist: 'g',
      environment: 'live',
      risks: '["Loud"]',
    });
  });

  it('proves its diff by a hash that anyone can compute from the branch', () => {
    const body: Presentation['body'] = [
      { type: 'notice', level: 'note', text: 'n' },
      { type: 'diff', ...DIFF },
    ];
    expect(diffEvidence(stored({ presentation: { ...PRESENTATION, body } }))).toEqual({
      preview_sha256: createHash('sha256').update('+x\n+y\n').digest('hex'),
    });
    expect(diffEvidence(stored())).toBeUndefined();
  });

  it('is stored with a salt, so that its digest does not tell an erased title', () => {
    const digests = [1, 2].map(() => sealPresentation(stored(), 'Why').evidence.presentation_sha256);
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(digests[0]).not.toBe(digests[1]);
  });
});

describe('a stored presentation', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  afterEach(() => vi.useRealTimers());

  let nextId = 1;
  /** What presenting reads of an approval. */
  const approval = (more: Partial<Approval> = {}): Approval => {
    nextId += 1;
    return {
      id: nextId,
      state: 'done',
      tool: 'send_note',
      toolkit: 'notes',
      effect: 'change',
      args: { text: 'Hello' },
      requester: LOCAL_AGENT,
      reason: 'said before',
      rule: 'agents-ask',
      summary: 'Send it (live)',
      risks: ['Loud'],
      context: { project: 1 },
      createdAt: new Date(0),
      ...more,
    } as Approval;
  };
  const keep = (of: Approval, what: StoredPresentation | ChangePreview) =>
    store.database.db
      .insertInto('approval_previews')
      .values({ approval_id: of.id, body: JSON.stringify(what) })
      .execute();
  const presented = (of: Approval, tool?: Tool, label?: string) =>
    presentStored(store.database.db, of, tool && makeBound(tool), label);
  const fresh = (present: NonNullable<Tool['present']>) => makeTool({ present });

  it('is shown as it was asked once the call is decided', async () => {
    const of = approval();
    const late = { level: 'note', text: 'Late' } as const;
    await storePresentation(store.database.db, of.id, sealPresentation(stored({ said: 'First.' }), ''));
    await storePresentation(store.database.db, of.id, sealPresentation(stored({ added: [late] }), ''));
    const shown = await presented(
      of,
      fresh(() => ({ title: 'Now' })),
    );
    expect(shown).toEqual({
      ...PRESENTATION,
      risks: [late],
      reason: { text: 'Please.', by: 'agent:local' },
      rule: { id: 'agents-ask', title: 'Agents ask', sentence: 'It is loud.' },
      stale: null,
    });
  });

  it('has no reason where the requester gave none', async () => {
    for (const said of [null, '']) {
      const of = approval();
      await keep(of, stored({ said }));
      expect((await presented(of)).reason).toBeNull();
    }
    expect((await presented(approval({ reason: '' }))).reason).toBeNull();
  });

  it('is resolved again while the call is pending, with the notes of the requester', async () => {
    const of = approval({ state: 'pending', binding: { commit: 'abc' } });
    await keep(of, stored({ added: [{ level: 'note', text: 'Late' }] }));
    const seen: unknown[] = [];
    const tool = fresh((args, { principal, asked, binding, earlier }) => {
      seen.push(args, principal, asked, binding, earlier);
      return { title: 'Now', risks: ['Slow'] };
    });
    expect(await presented(of, tool)).toMatchObject({
      title: 'Now (live)',
      risks: [{ text: 'Slow' }, { text: 'Late' }],
      stale: null,
    });
    const asked = { at: of.createdAt, context: of.context };
    expect(seen).toEqual([of.args, of.requester, asked, of.binding, PRESENTATION]);
  });

  it('takes the main content of the row where the tool names none', async () => {
    const gistOf = async (own: string | null, row: string | undefined) => {
      const of = approval({ gist: row });
      await keep(of, stored({ presentation: { ...PRESENTATION, gist: own } }));
      return (await presented(of)).gist;
    };
    expect(await gistOf('own', 'row')).toBe('own');
    expect(await gistOf(null, 'row')).toBe('row');
    expect(await gistOf(null, undefined)).toBeNull();
  });

  it('is stale when the tool is gone or refuses the call, and then shown as it was asked', async () => {
    const of = approval({ state: 'pending' });
    await keep(of, stored());
    expect(await presented(of)).toMatchObject({
      title: PRESENTATION.title,
      stale: 'Tool send_note is no longer available.',
    });
    const refusing = fresh(() => Promise.reject(new ToolError('not_found', 'The post is gone.')));
    expect(await presented(of, refusing)).toMatchObject({
      title: PRESENTATION.title,
      stale: 'The post is gone.',
    });
    for (const error of [new ToolError('timeout', 'Slow.'), new TypeError('a bug')])
      expect(
        await presented(
          of,
          fresh(() => Promise.reject(error)),
        ),
      ).toMatchObject({
        title: PRESENTATION.title,
        stale: null,
      });
  });

  it('is shown as it was asked when resolving it takes too long', async () => {
    const of = approval({ state: 'pending' });
    await keep(of, stored());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const slow = fresh(() => {
      vi.advanceTimersByTime(SHOWING_MS);
      return new Promise(() => {});
    });
    expect(await presented(of, slow)).toMatchObject({ title: PRESENTATION.title, stale: null });
    vi.clearAllTimers();
    await presented(
      of,
      fresh(() => ({ title: 'Now' })),
    );
    expect(vi.getTimerCount()).toBe(0);
  });

  it('from before presentations were stored is made from its row', async () => {
    expect(await presented(approval(), undefined, 'Ask about notes')).toEqual({
      title: 'Send it (live)',
      done: 'Send it (live)',
      act: 'run',
      gist: null,
      kind: 'call',
      target: { kind: 'toolkit', label: 'notes', environment: 'live' },
      effect: { text: 'Changes data' },
      undo: { possible: null, text: 'Unknown' },
      risks: [{ level: 'note', text: 'Loud' }],
      body: [],
      generic: true,
      money: false,
      reason: { text: 'said before', by: 'agent:local' },
      rule: { id: 'agents-ask', title: 'Agents ask', sentence: 'Said before.' },
      stale: null,
    });
    const of = approval({ effect: 'destroy', environment: 'local', gist: 'the text' });
    await keep(of, { ...DIFF, replaces: ['files'] });
    expect(await presented(of)).toMatchObject({
      gist: 'the text',
      target: { environment: 'local' },
      effect: { text: 'Deletes data' },
      body: [{ type: 'diff', ...DIFF }],
      reason: { text: 'said before' },
    });
    const earlier: unknown[] = [];
    const tool = fresh((_args, context) => {
      earlier.push(context.earlier);
      return { title: 'Now' };
    });
    await presented(approval({ state: 'pending', gist: 'the text' }), tool);
    expect(earlier).toMatchObject([{ title: 'Send it (live)', gist: 'the text' }]);
    const asked = approval({ reason: "tool 'send_note' requires approval" });
    expect((await presented(asked, undefined, 'Ask about notes')).rule.sentence).toBe('Ask about notes.');
  });
});
