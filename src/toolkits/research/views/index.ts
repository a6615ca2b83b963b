import type { View } from '../../../contract/toolkit.ts';
import type { ResearchServices } from '../services.ts';
import { code, codes } from './codes.ts';
import { auditTrailView, changes, privacy } from './history.ts';
import { project } from './project.ts';
import { marks, source, sources } from './sources.ts';
import { agreement, statistics } from './statistics.ts';
import { batch, passage, suggestions } from './suggestions.ts';

/** What people see of a project; everything here is read only and unmasked. */
export const views: Readonly<Record<string, View<ResearchServices>>> = {
  project,
  sources,
  source,
  marks,
  codes,
  code,
  suggestions,
  passage,
  batch,
  changes,
  privacy,
  agreement,
  statistics,
  audit_trail: auditTrailView,
};
