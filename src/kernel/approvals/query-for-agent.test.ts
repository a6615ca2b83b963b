import { describe, expect, it } from 'vitest';
import { plain } from '../../catalogue/dialect.ts';
import { LOCAL_AGENT, type Principal } from '../../contract/principal.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { toolNamed } from '../call/steps.fixture.ts';
import { ADA, approvalOf } from './approvals.fixture.ts';
import { approvalForAgent } from './query.ts';

const SECRET = approvalOf({
  summary: 'summary',
  gist: 'gist',
  reason: 'reason',
  decisionReason: 'decision',
  feedback: 'feedback',
  outcome: { status: 'ok', code: 'c', data: ['a', { text: 'b', count: 3, none: null, sure: true }] },
});
type Redact = BoundTool['toolkit']['redactForAgent'];
const resolveTo = (redactForAgent?: Redact) => async (): Promise<BoundTool> => ({
  tool: toolNamed('ledger_write'),
  toolkit: { id: 'ledger', dialect: plain, redactForAgent },
  services: async () => 'services',
});
const starred = resolveTo(async (words, { id }, services) => `*${words} ${id} ${services}`);
const read = (approval: typeof SECRET, redact = starred, reader: Principal = LOCAL_AGENT) =>
  approvalForAgent(redact, approval, reader);

describe('an approval as an agent reads it', () => {
  it('is as it was written for people, and where the toolkit has nothing to hide', async () => {
    expect(await read(SECRET, starred, ADA)).toBe(SECRET);
    expect(await read(SECRET, resolveTo())).toBe(SECRET);
  });

  it('has none of its words where no toolkit is loaded that knows them', async () => {
    expect(await approvalForAgent(async () => undefined, SECRET, LOCAL_AGENT)).toEqual({
      ...SECRET,
      summary: 'ledger_write',
      gist: undefined,
      reason: '',
      decisionReason: undefined,
      feedback: undefined,
      outcome: undefined,
    });
  });

  it('has all of its words as the toolkit shows them, within the outcome too', async () => {
    const shown = (words: string) => `*${words} 7 services`;
    expect(await read(SECRET)).toEqual({
      ...SECRET,
      summary: shown('summary'),
      gist: shown('gist'),
      reason: shown('reason'),
      decisionReason: shown('decision'),
      feedback: shown('feedback'),
      outcome: {
        status: 'ok',
        code: 'c',
        data: [shown('a'), { text: shown('b'), count: 3, none: null, sure: true }],
      },
    });
  });

  it('is shown to the system like to an agent', async () => {
    const system = { kind: 'system', id: 'scheduler' } as const;
    expect((await read(SECRET, starred, system)).summary).toBe('*summary 7 services');
  });

  it('says only once that nothing is shown', async () => {
    const hidden = resolveTo(async () => '(hidden)');
    expect(await read(SECRET, hidden)).toMatchObject({ summary: '(hidden)', gist: undefined });
  });

  it('gets no words that it does not have', async () => {
    const { gist, decisionReason, feedback, outcome } = await read(approvalOf());
    expect([gist, decisionReason, feedback, outcome]).toEqual([undefined, undefined, undefined, undefined]);
  });
});
