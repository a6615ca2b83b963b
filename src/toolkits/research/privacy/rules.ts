import type { Kysely } from 'kysely';
import { ToolError } from '../../../contract/errors.ts';
import type { ResearchTables } from '../tables.ts';
import { type Pseudonym, Pseudonymiser } from './pseudonyms.ts';

export interface PrivacyRules {
  readonly offLimits: ReadonlySet<number>;
  readonly names: readonly Pseudonym[];
  readonly pseudonymiser: Pseudonymiser;
}

/** What agents may not see of a project. Read again for every call, so a mark applies from the next call on. */
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
    const rows = await this.#db
      .selectFrom('research_pseudonyms')
      .select(['original', 'pseudonym', 'variants', 'exact'])
      .where('project_id', '=', projectId)
      .orderBy('original')
      .execute();
    const names = rows.map(({ variants, exact, ...name }) => ({
      ...name,
      variants: JSON.parse(variants) as string[],
      exact: exact === 1,
    }));
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
  async setPseudonym(projectId: string, given: Pseudonym, by: string): Promise<void> {
    const name = given.original.trim();
    const shown = given.pseudonym.trim();
    const variants = (given.variants ?? []).map((variant) => variant.trim()).filter(Boolean);
    if (!name) throw new ToolError('validation_error', 'The name to replace is empty.');
    await this.#db
      .deleteFrom('research_pseudonyms')
      .where('project_id', '=', projectId)
      .where('original', '=', name)
      .execute();
    if (!shown) return;
    await this.#db
      .insertInto('research_pseudonyms')
      .values({
        project_id: projectId,
        original: name,
        pseudonym: shown,
        variants: JSON.stringify(variants),
        exact: given.exact ? 1 : 0,
        at: this.#now().toISOString(),
        by,
      })
      .execute();
  }
}
