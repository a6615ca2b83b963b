import { serve } from '../../../contract/view.ts';
import type { ResearchServices } from '../services.ts';
import { views } from '../views.ts';
import { agreement, code, codes, statistics } from './codes.ts';
import { auditTrailView, batch, changes, passage, privacy, project, suggestions } from './project.ts';
import { marks, source, sources } from './sources.ts';

/** What people see of a project; everything here is read only and unmasked. */
export const served = serve<ResearchServices, typeof views>(views, {
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
});
