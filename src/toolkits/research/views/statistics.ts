import { z } from 'zod';
import type { JsonValue } from '../../../contract/json.ts';
import type { View } from '../../../contract/toolkit.ts';
import { sentenceSegments } from '../analysis/segments.ts';
import { isAgentOwner } from '../lib/owner.ts';
import type { ProjectReader } from '../project/types.ts';
import type { ResearchServices } from '../services.ts';
import { caseMatrix } from '../statistics/case-matrix.ts';
import { coOccurrences } from '../statistics/co-occurrence.ts';
import { codeFrequencies } from '../statistics/frequencies.ts';
import { type CodedProject, reliability } from '../statistics/reliability.ts';
import { readParams } from './params.ts';

/** A project as the statistics take it; also what `countersign research agreement` computes from. */
function codedProject(reader: ProjectReader): CodedProject {
  return {
    codes: reader.codes(),
    sources: reader.sources().flatMap(({ id, name, hasText }) => {
      const text = hasText ? reader.text(id) : undefined;
      return text ? [{ id, name, length: text.length, units: sentenceSegments(text) }] : [];
    }),
    coders: reader
      .coders()
      .map(({ name }) => ({ name, kind: isAgentOwner(name) ? ('agent' as const) : ('person' as const) })),
    codings: reader.codings(),
  };
}

export const agreement: View<ResearchServices> = async (params, { services }) => {
  const options = readParams(
    z.object({
      unit: z.enum(['character', 'segment']).default('character'),
      per_source: z.stringbool().or(z.boolean()).default(false),
    }),
    params,
  );
  const { store } = await services.projects.current();
  const rows = await reliability(codedProject(store), { unit: options.unit, perSource: options.per_source });
  return asJson(rows);
};

export const statistics: View<ResearchServices> = async (_, { services }) => {
  const { store } = await services.projects.current();
  const codings = store.codings();
  const codes = store.codes();
  return asJson({
    frequencies: codeFrequencies(codes, codings),
    co_occurrence: coOccurrences(codes, codings),
    case_matrix: caseMatrix(named(codes), named(store.cases()), codings, store.caseTexts()),
  });
};

/** Names and ids alone: memos have no place in a table. */
const named = (items: readonly { readonly id: number; readonly name: string }[]) =>
  items.map(({ id, name }) => ({ id, name }));

/** Results of plain numbers and texts; maps and the like would show up here as empty. */
const asJson = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;
