import { z } from 'zod';
import type { View } from '../../../contract/toolkit.ts';
import { auditTrail } from '../audit/trail.ts';
import { showChange } from '../lib/changes.ts';
import type { Change } from '../project/journal.ts';
import type { RowChange } from '../project/recorder.ts';
import type { ProjectReader } from '../project/types.ts';
import type { ResearchServices } from '../services.ts';
import { readParams, wholeNumber } from './params.ts';

/** What changed the project through Countersign, newest first, for the undo list. */
export const changes: View<ResearchServices> = async (params, { services }) => {
  const { limit, before } = readParams(
    z.object({ limit: wholeNumber.min(1).max(500).default(50), before: wholeNumber.optional() }),
    params,
  );
  const { store } = await services.projects.current();
  const recent = await store.journal.recent(limit, before);
  const nameOf = namer(store);
  return recent.map((change) => ({ ...showChange(change), about: aboutOf(change, nameOf) }));
};

const NAMED = 3;

/** The codes, sources and cases a change concerns, by name; of many the first few. */
function aboutOf({ rows }: Change, nameOf: (row: RowChange) => string | undefined): string[] {
  const names = new Set<string>();
  for (const row of rows) {
    const name = nameOf(row);
    if (name !== undefined) names.add(name);
    if (names.size > NAMED) break;
  }
  const all = [...names];
  return all.length > NAMED ? [...all.slice(0, NAMED), '…'] : all;
}

/** Rows that are gone or were changed carry their old name; of added ones only the key is written down. */
function namer(store: ProjectReader): (row: RowChange) => string | undefined {
  const codings = lazy(() => new Map(store.codings().map(({ id, codeId }) => [id, codeId])));
  const named: Readonly<Record<string, (id: number) => string | undefined>> = {
    code_name: (id) => store.code(id)?.name,
    source: (id) => store.source(id)?.name,
    cases: (id) => store.cases().find((each) => each.id === id)?.name,
    code_text: (id) => store.code(codings().get(id) ?? -1)?.name,
  };
  return (row) => {
    if (row.kind === 'file') return undefined;
    if (row.kind === 'insert') return named[row.table]?.(Number(row.key));
    const image = row.kind === 'delete' ? row.row : row.before;
    if (row.table === 'code_text') return store.code(Number(image.cid?.[1] ?? -1))?.name;
    return image.name?.[0] === 't' ? image.name[1] : undefined;
  };
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export const privacy: View<ResearchServices> = async (_, { services }) => {
  const { id, store } = await services.projects.current();
  const { offLimits, names } = await services.privacy.rules(id);
  return {
    off_limits: store
      .sources()
      .flatMap((item) => (offLimits.has(item.id) ? [{ id: item.id, name: item.name }] : [])),
    pseudonyms: names.map(({ original, pseudonym }) => ({ original, pseudonym })),
  };
};

export const auditTrailView: View<ResearchServices> = async (_, { services }) =>
  auditTrail(services, await services.projects.current());
