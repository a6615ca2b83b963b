import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAssistantStore, type TestAssistantStore } from '../test/support/assistant.ts';
import { parseActive, sessionsReport, sessionsText, transcriptLines } from './report.ts';
import { Runs } from './runs.ts';
import { Sessions } from './sessions.ts';
import { Transcript } from './transcript.ts';

let store: TestAssistantStore;
let now = new Date('2026-01-10T12:00:00.000Z');
const clock = () => now;

beforeEach(async () => {
  store = await openAssistantStore();
  now = new Date('2026-01-10T12:00:00.000Z');
});

afterEach(() => store.close());

const used = {
  model: 'anthropic/x',
  inputTokens: 11_000,
  outputTokens: 900,
  contextTokens: 12_000,
  windowTokens: 200_000,
  costUsd: 0,
  aborted: false,
};

describe('listing sessions', () => {
  it('gives the documented JSON, the newest first', async () => {
    const sessions = new Sessions(store.open(), clock);
    await sessions.open('agent:local', 'older');
    now = new Date('2026-01-10T13:00:00.000Z');
    const newer = await sessions.open('agent:local', 'newer');
    await sessions.addTurn(newer.id, used);
    now = new Date('2026-01-10T13:05:00.000Z');
    const report = await sessionsReport(sessions, { path: '/data/store.db', activeMinutes: undefined, now });
    expect(report).toMatchObject({ path: '/data/store.db', count: 2, activeMinutes: null });
    expect(report.sessions.map(({ key }) => key)).toEqual(['newer', 'older']);
    expect(report.sessions[0]).toEqual({
      key: 'newer',
      kind: 'direct',
      updatedAt: Date.parse('2026-01-10T13:00:00.000Z'),
      ageMs: 300_000,
      sessionId: newer.id,
      systemSent: true,
      abortedLastRun: false,
      inputTokens: 11_000,
      outputTokens: 900,
      totalTokens: 12_000,
      model: 'anthropic/x',
      contextTokens: 200_000,
    });
  });

  it('leaves out what was not active within the minutes asked for', async () => {
    const sessions = new Sessions(store.open(), clock);
    await sessions.open('agent:local', 'older');
    now = new Date('2026-01-10T13:00:00.000Z');
    await sessions.open('agent:local', 'newer');
    const report = await sessionsReport(sessions, { path: 'p', activeMinutes: 30, now });
    expect(report.sessions.map(({ key }) => key)).toEqual(['newer']);
    expect(report.activeMinutes).toBe(30);
  });

  it('prints the documented table', async () => {
    const sessions = new Sessions(store.open(), clock);
    const { id } = await sessions.open('agent:local', 'user-123-a-very-long-conversation-key');
    await sessions.addTurn(id, used);
    now = new Date('2026-01-10T15:30:00.000Z');
    const text = sessionsText(await sessionsReport(sessions, { path: 'p', activeMinutes: undefined, now }));
    expect(text.split('\n')).toEqual([
      'Session store: p',
      'Sessions listed: 1',
      'Kind   Key                        Age       Model          Tokens (ctx %)       Flags',
      `direct user-123-a-very-…on-key    3h ago    anthropic/x    12k/200k (6%)        system id:${id}`,
    ]);
  });

  it('says so when there are none', async () => {
    const sessions = new Sessions(store.open(), clock);
    const text = sessionsText(await sessionsReport(sessions, { path: 'p', activeMinutes: 5, now }));
    expect(text).toContain('No sessions found.');
  });

  it.each([
    ['5', 5],
    ['0', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['x', undefined],
  ])('reads --active %s', (text, minutes) => {
    expect(parseActive(text)).toBe(minutes);
  });
});

describe('exporting a transcript', () => {
  it('writes a header and one JSON line for each entry', async () => {
    const db = store.open();
    const session = await new Sessions(db, clock).open('agent:local', 'k');
    const runs = new Runs(db, { now: clock, owner: 'me', leaseMs: 60_000 });
    const transcript = new Transcript(db, { now: clock, owner: 'me' });
    const run = await runs.enqueue(session.id, 'call', 'hello');
    await runs.claim(run);
    await transcript.append(run, { type: 'message', body: { role: 'user', content: 'hello' } });
    await transcript.append(run, { type: 'note', body: { text: 'a note' } });
    const lines = [...transcriptLines(session, await transcript.entries(session.id))].map(
      (line) => JSON.parse(line) as object,
    );
    expect(lines).toMatchObject([
      { type: 'session', version: 1, id: session.id, key: 'k', caller: 'agent:local' },
      { type: 'message', seq: 1, inContext: true, message: { role: 'user', content: 'hello' } },
      { type: 'note', seq: 2, text: 'a note' },
    ]);
  });
});
