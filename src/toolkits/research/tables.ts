import type { Generated } from 'kysely';

/** The toolkit's tables in our own store (migration 030). Nothing of it is ever written into a project. */
export interface ResearchTables {
  research_projects: { id: string; path: string; made_at: string; first_seen: string };
  research_openings: { id: Generated<number>; project_id: string | null; at: string; by: string };
  research_changes: ChangesTable;
  research_added: { change_id: number; project_id: string; kind: string; first_id: number; last_id: number };
  research_batches: { id: string; project_id: string; tool: string; at: string };
  research_off_limits: { project_id: string; source_id: number; at: string; by: string };
  research_pseudonyms: {
    project_id: string;
    original: string;
    pseudonym: string;
    at: string;
    by: string;
    /** A JSON list. */
    variants: Generated<string>;
    exact: Generated<number>;
  };
}

export interface ChangesTable {
  id: Generated<number>;
  project_id: string;
  call_id: string;
  tool: string;
  owner: string;
  principal: string;
  approved_by: string | null;
  method: string | null;
  confidence: number | null;
  rationale: string | null;
  at: string;
  /** The date written into the project's rows, to tell them from later rows with the same id. */
  stamp: string;
  /** prepared | applied | void | undone */
  state: string;
  undoes: number | null;
  rows: string;
}
