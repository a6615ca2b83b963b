import { describe, expect, it } from 'vitest';
import { refineSuggestions, type SuggestionRefiner } from './refine.ts';

const suggestion = {
  codeId: 1,
  codeName: 'Rent',
  confidence: 80,
  rationale: 'Because.',
  start: 0,
  end: 4,
  text: 'rent',
  examples: [{ sourceId: 3, text: 'the rent again' }],
};
const found = {
  suggestions: [suggestion, { ...suggestion, codeId: 2, codeName: 'Debt', confidence: 10 }],
  provenance: { method: 'lexical' } as const,
  rejectedBefore: 0,
};
const CODES = [
  { id: 1, name: 'Rent', memo: 'What a flat costs.' },
  { id: 2, name: 'Debt', memo: '' },
  { id: 3, name: 'Food', memo: '' },
];
const wanted = { minConfidence: 0, most: 5, mayProposeCodes: true };
const refinerOf = (refine: SuggestionRefiner['refine']): SuggestionRefiner => ({
  name: 'ollama/llama',
  address: 'http://127.0.0.1:11434/v1',
  refine,
});

describe('a language model on top', () => {
  it('sees definitions and examples, is named wherever it decided, can drop a suggestion and change the order', async () => {
    const seen: unknown[] = [];
    const refiner = refinerOf(async (request) => {
      seen.push(request.codes);
      return {
        opinions: [
          { index: 0, fits: false, confidence: 5, reason: 'No.' },
          { index: 1, fits: true, confidence: 90, reason: 'Speaks of debts.' },
        ],
        newCodes: [
          { name: 'Landlord', definition: 'Who lets the flat.', quote: 'rent', reason: 'Missing.' },
          { name: 'rent', definition: '', quote: 'rent', reason: 'Exists.' },
        ],
      };
    });
    const refined = await refineSuggestions(found, CODES, refiner, wanted);
    expect(seen).toEqual([
      [
        { id: 1, name: 'Rent', memo: 'What a flat costs.', examples: suggestion.examples },
        { id: 2, name: 'Debt', memo: '', examples: suggestion.examples },
      ],
    ]);
    expect(
      refined.suggestions.map(({ codeName, confidence, rationale }) => [codeName, confidence, rationale]),
    ).toEqual([['Debt', 50, 'Because. ollama/llama (90): Speaks of debts.']]);
    expect(refined.newCodes?.map(({ name }) => name)).toEqual(['Landlord']);
    expect(refined.provenance).toEqual({
      method: 'lexical',
      refinedBy: 'ollama/llama',
      note: 'Sent to ollama/llama at http://127.0.0.1:11434/v1: 1 passage, 2 codes with definitions and at most 2 examples.',
    });
  });

  it('changes nothing when it fails, and the failure is reported', async () => {
    const refiner = refinerOf(() => Promise.reject(new Error('connection refused')));
    const refined = await refineSuggestions(found, CODES, refiner, { ...wanted, most: 1 });
    expect(refined.suggestions).toEqual([suggestion]);
    expect(refined.provenance.refinedBy).toBeUndefined();
    expect(refined.provenance.note).toContain('connection refused');
  });
});
