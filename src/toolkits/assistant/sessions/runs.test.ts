import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, freshPostgres } from '../../../../test/support/engines.ts';
import { openAssistantStore, type TestAssistantStore } from '../test/support/assistant.ts';
import { Runs } from './runs.ts';
import { type Session, Sessions } from './sessions.ts';
import { LostRun, Transcript } from './transcript.ts';

describe.each(ENGINES)('orders in the store on %s', (engine) => {
  let store: TestAssistantStore;
  let session: Session;
  let now: Date;
  let open: (owner: string) => { runs: Runs; transcript: Transcript };

  beforeEach(async () => {
    now = new Date('2026-01-10T12:00:00.000Z');
    const url = engine === 'postgres' ? await freshPostgres({ empty: true }) : undefined;
    store = await openAssistantStore(url);
    const db = store.open();
    const clock = () => now;
    session = await new Sessions(db, clock).open('agent:local', 'k');
    open = (owner) => ({
      runs: new Runs(db, { now: clock, owner, leaseMs: 60_000 }),
      transcript: new Transcript(db, { now: clock, owner }),
    });
  });

  afterEach(() => store.close());

  const later = (ms: number) => {
    now = new Date(now.getTime() + ms);
  };

  it('give each order the next place, also when many come simultaneously', async () => {
    const { runs } = open('a');
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) => runs.enqueue(session.id, `c${n}`, 'm')),
    );
    expect(made.map(({ seq }) => seq).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, n) => n + 1),
    );
  });

  it('let only the first of a session begin, and the next when it has ended', async () => {
    const a = open('a');
    const b = open('b');
    const first = await a.runs.enqueue(session.id, 'c1', 'one');
    const second = await b.runs.enqueue(session.id, 'c2', 'two');
    expect(await b.runs.claim(second)).toBe(false);
    expect(await a.runs.claim(first)).toBe(true);
    expect(await a.runs.claim(first)).toBe(false);
    expect(await b.runs.claim(second)).toBe(false);
    await a.transcript.close(first, { state: 'done', answer: {} });
    expect(await b.runs.claim(second)).toBe(true);
  });

  it('take entries only from the one that holds the running order', async () => {
    const a = open('a');
    const b = open('b');
    const run = await a.runs.enqueue(session.id, 'c1', 'one');
    const body = { role: 'user' as const, content: 'one' };
    await expect(a.transcript.append(run, { type: 'message', body })).rejects.toThrow(LostRun);
    await a.runs.claim(run);
    await a.transcript.append(run, { type: 'message', body });
    await expect(b.transcript.append(run, { type: 'message', body })).rejects.toThrow(LostRun);
  });

  it('are taken over only when their lease has run out, and then the old holder has lost them', async () => {
    const a = open('a');
    const b = open('b');
    const run = await a.runs.enqueue(session.id, 'c1', 'one');
    await a.runs.claim(run);
    later(50_000);
    expect(await a.runs.renew()).toEqual(new Set([run.id]));
    later(50_000);
    expect(await b.runs.adopt(run.id)).toBe(false);
    later(20_000);
    expect((await b.runs.orphans()).map(({ id }) => id)).toEqual([run.id]);
    expect(await b.runs.adopt(run.id)).toBe(true);
    expect(await b.runs.adopt(run.id)).toBe(false);
    expect(await a.runs.renew()).toEqual(new Set());
    await expect(a.transcript.close(run, { state: 'done', answer: {} })).rejects.toThrow(LostRun);
  });

  it('are free immediately when their process gives them up', async () => {
    const a = open('a');
    const run = await a.runs.enqueue(session.id, 'c1', 'one');
    await a.runs.release();
    expect(await open('b').runs.adopt(run.id)).toBe(true);
  });

  it('are delivered once', async () => {
    const { runs } = open('a');
    const run = await runs.enqueue(session.id, 'c1', 'one');
    expect(await Promise.all([runs.deliver(run.id), runs.deliver(run.id)])).toContain(false);
  });

  it('are found again by their message only when their caller has gone', async () => {
    const { runs } = open('a');
    const since = new Date(0);
    const run = await runs.enqueue(session.id, 'c1', 'one');
    expect(await runs.prior(session.id, 'one', since)).toBeUndefined();
    await runs.detach(run.id);
    expect((await runs.prior(session.id, 'one', since))?.id).toBe(run.id);
    expect(await runs.prior(session.id, 'One', since)).toBeUndefined();
    expect(await runs.prior(session.id, 'one', new Date(now.getTime() + 1))).toBeUndefined();
  });

  it('that were interrupted are reported once, and shown to the model only if tools were used', async () => {
    const a = open('a');
    const b = open('b');
    const plain = await a.runs.enqueue(session.id, 'c1', 'one');
    await a.runs.claim(plain);
    await a.transcript.append(plain, { type: 'message', body: { role: 'user', content: 'one "tool-call"' } });
    later(61_000);
    expect(await b.transcript.interrupt(plain)).toBe(true);
    expect(await b.transcript.interrupt(plain)).toBe(false);
    expect((await b.transcript.context(session.id)).entries).toEqual([]);

    const withTool = await a.runs.enqueue(session.id, 'c2', 'two');
    await a.runs.claim(withTool);
    const call = { type: 'tool-call' as const, toolCallId: 't', toolName: 'post', input: {} };
    await a.transcript.append(withTool, { type: 'message', body: { role: 'user', content: 'two' } });
    await a.transcript.append(withTool, { type: 'message', body: { role: 'assistant', content: [call] } });
    later(61_000);
    expect(await b.transcript.interrupt(withTool)).toBe(true);
    const { entries } = await b.transcript.context(session.id);
    expect(entries.map(({ type }) => type)).toEqual(['message', 'message', 'note']);
    expect(await b.transcript.count(session.id)).toBe(4);

    expect(await b.runs.untold(session.id)).toHaveLength(2);
    expect(await b.runs.untold(session.id)).toHaveLength(0);
  });
});
