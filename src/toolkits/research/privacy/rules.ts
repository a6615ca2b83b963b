import type { Kysely } from 'kysely';
import { ToolFault } from '../../../contract/faults.ts';
import type { ResearchTables } from '../tables.ts';
import { type Pseudonym, Pseudonymiser } from './pseudonyms.ts';

export interface PrivacyRules {
  readonly offLimits: ReadonlySet<number>;
  readonly names: readonly Pseudonym[];
  readonly pseudonymiser: Pseudonymiser;
}

/** What agents may not see of a project. Read anew for every call, so that a mark holds from the next call on. */
export class PrivacyStore {
  readonly #db: Kysely<ResearchTables>;
  readonly #now: () => Date;
  #made: { readonly key: string; readonly rules: PrivacyRules } | undefined;

  constructor(db: Kysely<ResearchTables>, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  async rules(projectId: string): Promise<PrivacyRules> {
    const marks = await this.#db
      .selectFrom('research_off_limits')
      .select('source_id')
      .where('project_id', '=', projectId)
      .orderBy('source_id')
      .execute();
    const names = await this.#db
      .selectFrom('research_pseudonyms')
      .select(['original', 'pseudonym'])
      .where('project_id', '=', projectId)
      .orderBy('original')
      .execute();
    const key = JSON.stringify([projectId, marks, names]);
    if (this.#made?.key !== key) {
      const offLimits = new Set(marks.map(({ source_id }) => source_id));
      this.#made = { key, rules: { offLimits, names, pseudonymiser: new Pseudonymiser(names) } };
    }
    return this.#made.rules;
  }

  async setOffLimits(projectId: string, sourceId: number, off: boolean, by: string): Promise<void> {
    if (!off) {
      await this.#db
        .deleteFrom('research_off_limits')
        .where('project_id', '=', projectId)
        .where('source_id', '=', sourceId)
        .execute();
      return;
    }
    await this.#db
      .insertInto('research_off_limits')
      .values({ project_id: projectId, source_id: sourceId, at: this.#now().toISOString(), by })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** An empty pseudonym takes the name off the map. */
  async setPseudonym(projectId: string, original: string, pseudonym: string, by: string): Promise<void> {
    const name = original.trim();
    const shown = pseudonym.trim();
    if (!name) throw new ToolFault('validation_error', 'The name to replace is empty.');
    await this.#db
      .deleteFrom('research_pseudonyms')
      .where('project_id', '=', projectId)
      .where('original', '=', name)
      .execute();
    if (!shown) return;
    await this.#db
      .insertInto('research_pseudonyms')
      .values({ project_id: projectId, original: name, pseudonym: shown, at: this.#now().toISOString(), by })
      .execute();
  }
}
