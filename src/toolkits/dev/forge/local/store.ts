import type { Kysely, Selectable } from 'kysely';
import { ToolError } from '../../../../contract/errors.ts';
import { type Principal, principalName } from '../../../../contract/principal.ts';
import type { DevTables } from '../../tables.ts';
import type { Author } from '../port.ts';

export type IssueRow = Selectable<DevTables['dev_issues']>;
export type PullRow = Selectable<DevTables['dev_pulls']>;
export type CommentRow = Selectable<DevTables['dev_comments']>;

const FRESH_PULL = {
  closed_at: null,
  closed_by: null,
  merge_commit: null,
  merge_call_id: null,
  update_call_id: null,
  update_commit: null,
} as const;

/** Issues, pull requests and comments of one clone. Numbers are shared between issues and pull requests. */
export class LocalStore {
  readonly #db: Kysely<DevTables>;
  readonly #repoId: string;

  constructor(db: Kysely<DevTables>, repoId: string) {
    this.#db = db;
    this.#repoId = repoId;
  }

  addIssue(
    row: Omit<IssueRow, 'repo_id' | 'number' | 'state' | 'closed_at' | 'closed_by'>,
  ): Promise<IssueRow> {
    return this.#db.transaction().execute(async (trx) => {
      const number = await this.#next(trx, 'last_number');
      const full: IssueRow = {
        ...row,
        repo_id: this.#repoId,
        number,
        state: 'open',
        closed_at: null,
        closed_by: null,
      };
      await trx.insertInto('dev_issues').values(full).execute();
      return full;
    });
  }

  issue(number: number): Promise<IssueRow | undefined> {
    return this.#issues().where('number', '=', number).executeTakeFirst();
  }

  issueOfCall(callId: string): Promise<IssueRow | undefined> {
    return this.#issues().where('call_id', '=', callId).executeTakeFirst();
  }

  issues(state: 'open' | 'closed' | 'all', limit: number, offset = 0): Promise<IssueRow[]> {
    let query = this.#issues().orderBy('number', 'desc').limit(limit).offset(offset);
    if (state !== 'all') query = query.where('state', '=', state);
    return query.execute();
  }

  async closeIssue(number: number, by: string, at: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('dev_issues')
      .set({ state: 'closed', closed_at: at, closed_by: by })
      .where('repo_id', '=', this.#repoId)
      .where('number', '=', number)
      .where('state', '=', 'open')
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  addComment(
    row: Omit<CommentRow, 'repo_id' | 'id' | 'review'> & { review?: CommentRow['review'] },
  ): Promise<CommentRow> {
    return this.#db.transaction().execute(async (trx) => {
      const full: CommentRow = {
        review: null,
        ...row,
        repo_id: this.#repoId,
        id: await this.#next(trx, 'last_comment'),
      };
      await trx.insertInto('dev_comments').values(full).execute();
      return full;
    });
  }

  commentOfCall(callId: string): Promise<CommentRow | undefined> {
    return this.#comments().where('call_id', '=', callId).executeTakeFirst();
  }

  comments(pr: number): Promise<CommentRow[]> {
    return this.#comments().where('pr_number', '=', pr).orderBy('id').execute();
  }

  addPull(row: Omit<PullRow, 'repo_id' | 'number' | keyof typeof FRESH_PULL>): Promise<PullRow> {
    return this.#db.transaction().execute(async (trx) => {
      const number = await this.#next(trx, 'last_number');
      const full: PullRow = { ...row, ...FRESH_PULL, repo_id: this.#repoId, number };
      await trx.insertInto('dev_pulls').values(full).execute();
      return full;
    });
  }

  pull(number: number): Promise<PullRow | undefined> {
    return this.#pulls().where('number', '=', number).where('state', '!=', 'opening').executeTakeFirst();
  }

  pullOfCall(callId: string): Promise<PullRow | undefined> {
    return this.#pulls().where('call_id', '=', callId).executeTakeFirst();
  }

  pullOfMerge(callId: string): Promise<PullRow | undefined> {
    return this.#pulls().where('merge_call_id', '=', callId).executeTakeFirst();
  }

  /** The live pull request of a branch that stands on this commit, also one whose opening was interrupted. */
  livePull(headRef: string, headCommit: string, baseRef?: string): Promise<PullRow | undefined> {
    let query = this.#pulls()
      .where('head_ref', '=', headRef)
      .where('head_commit', '=', headCommit)
      .where('state', 'in', ['open', 'opening']);
    if (baseRef !== undefined) query = query.where('base_ref', '=', baseRef);
    return query.orderBy('number').executeTakeFirst();
  }

  pulls(state: 'open' | 'closed' | 'all', limit: number, offset = 0): Promise<PullRow[]> {
    const states = {
      open: ['open'],
      closed: ['closed', 'merged'],
      all: ['open', 'closed', 'merged'],
    } as const;
    const query = this.#pulls().where('state', 'in', states[state]).orderBy('number', 'desc');
    return query.limit(limit).offset(offset).execute();
  }

  async setPull(number: number, changes: Partial<Omit<PullRow, 'repo_id' | 'number'>>): Promise<void> {
    await this.#db
      .updateTable('dev_pulls')
      .set(changes)
      .where('repo_id', '=', this.#repoId)
      .where('number', '=', number)
      .execute();
  }

  /** Forgets a pull request whose branch never came to be. */
  async dropOpening(number: number): Promise<void> {
    await this.#db
      .deleteFrom('dev_pulls')
      .where('repo_id', '=', this.#repoId)
      .where('number', '=', number)
      .where('state', '=', 'opening')
      .execute();
  }

  #issues() {
    return this.#db.selectFrom('dev_issues').selectAll().where('repo_id', '=', this.#repoId);
  }

  #pulls() {
    return this.#db.selectFrom('dev_pulls').selectAll().where('repo_id', '=', this.#repoId);
  }

  #comments() {
    return this.#db.selectFrom('dev_comments').selectAll().where('repo_id', '=', this.#repoId);
  }

  async #next(trx: Kysely<DevTables>, counter: 'last_number' | 'last_comment'): Promise<number> {
    const row = await trx
      .updateTable('dev_repos')
      .set((eb) => ({ [counter]: eb(counter, '+', 1) }))
      .where('id', '=', this.#repoId)
      .returning(counter)
      .executeTakeFirst();
    const next = row?.[counter];
    if (next === undefined)
      throw new ToolError('internal', `Repository ${this.#repoId} is missing from the database.`);
    return next;
  }
}

export const authorName = (principal: Principal): string => principalName(principal);

/** Locally only what a person wrote is trusted; an agent's text may carry anyone's words. */
export function localAuthor(name: string): Author {
  const kind = name.startsWith('person:') ? 'person' : name.startsWith('agent:') ? 'agent' : 'unknown';
  return {
    login: name.slice(name.indexOf(':') + 1),
    kind,
    trust: kind === 'person' ? 'trusted' : 'untrusted',
  };
}
