import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../sessions/transcript.ts';
import { chooseCut, renderForSummary } from './context.ts';

const entry = (seq: number, role: string, tokens = 10, type = 'message'): Entry => ({
  session_id: 's',
  seq,
  run_id: 'r',
  type,
  in_context: 1,
  tokens,
  model: null,
  body: JSON.stringify(type === 'note' ? { text: 'note' } : { role, content: `${role} ${seq}` }),
  created_at: '',
});

describe('choosing where to condense', () => {
  it('keeps the newest entries that fit', () => {
    const entries = ['user', 'assistant', 'user', 'assistant'].map((role, at) => entry(at + 1, role));
    expect(chooseCut(entries, 20)).toMatchObject({ firstKept: 3 });
  });

  it('never begins with the result of a tool', () => {
    const entries = ['user', 'assistant', 'tool', 'tool'].map((role, at) => entry(at + 1, role));
    expect(chooseCut(entries, 10)).toMatchObject({ firstKept: 2 });
  });

  it('keeps the last entry however large it is', () => {
    const entries = [entry(1, 'user'), entry(2, 'user', 10_000)];
    expect(chooseCut(entries, 10)).toMatchObject({ firstKept: 2 });
  });

  it('finds nothing where there is only one place to begin', () => {
    expect(chooseCut([entry(1, 'user', 10_000)], 10)).toBeUndefined();
    expect(chooseCut([], 10)).toBeUndefined();
  });

  it('always leaves something on both sides, and begins where a conversation can', () => {
    const role = fc.constantFrom('user', 'assistant', 'tool');
    fc.assert(
      fc.property(fc.array(fc.tuple(role, fc.nat(100)), { maxLength: 30 }), fc.nat(500), (rows, keep) => {
        const entries = rows.map(([role, tokens], at) => entry(at + 1, role, tokens));
        const cut = chooseCut(entries, keep);
        if (!cut) return;
        const kept = entries.filter(({ seq }) => seq >= cut.firstKept);
        expect(cut.older.length).toBeGreaterThan(0);
        expect(cut.older.length + kept.length).toBe(entries.length);
        expect(kept[0]?.body).not.toContain('"tool"');
      }),
    );
  });
});

describe('text for the summary', () => {
  it('comes in pieces that hold everything, long entries shortened in the middle', () => {
    const entries = [
      entry(1, 'user'),
      entry(2, 'assistant'),
      { ...entry(3, 'tool'), body: JSON.stringify({ role: 'tool', content: 'x'.repeat(5_000) }) },
    ];
    const pieces = renderForSummary(entries, 1_000);
    expect(pieces.join('')).toContain('user: user 1');
    expect(pieces.join('')).toContain('assistant: assistant 2');
    expect(pieces.join('')).toContain('characters omitted');
    for (const piece of pieces) expect(piece.length).toBeLessThan(1_300);
  });
});
