import { z } from 'zod';
import type { View } from '../../../contract/toolkit.ts';
import { auditTrail } from '../audit/trail.ts';
import { showChange } from '../lib/changes.ts';
import type { ResearchServices } from '../services.ts';
import { readParams, wholeNumber } from './params.ts';

/** What changed the project through Countersign, newest first, for the undo list. */
export const changes: View<ResearchServices> = async (params, { services }) => {
  const { limit, before } = readParams(
    z.object({ limit: wholeNumber.min(1).max(500).default(50), before: wholeNumber.optional() }),
    params,
  );
  const { store } = await services.projects.current();
  return (await store.journal.recent(limit, before)).map(showChange);
};

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
