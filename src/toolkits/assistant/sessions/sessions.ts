import { randomBytes, randomUUID } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import { ToolError } from '../../../contract/errors.ts';
import type { AssistantTables, SessionsTable } from './tables.ts';

export type Session = Selectable<SessionsTable>;

export interface TurnTotals {
  readonly model: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly contextTokens: number;
  readonly windowTokens: number;
  readonly costUsd: number;
  readonly aborted: boolean;
}

/** Conversations by caller and key. A key of one caller says nothing about the same key of another. */
export class Sessions {
  readonly #db: Kysely<AssistantTables>;
  readonly #now: () => Date;
  readonly #changed: (sessionId: string) => void;

  constructor(db: Kysely<AssistantTables>, now: () => Date, changed: (sessionId: string) => void = () => {}) {
    this.#db = db;
    this.#now = now;
    this.#changed = changed;
  }

  async open(scope: string, key: string): Promise<Session> {
    const at = this.#now().toISOString();
    await this.#db
      .insertInto('assistant_sessions')
      .values({
        id: randomUUID(),
        scope,
        key,
        created_at: at,
        updated_at: at,
        model: null,
        input_tokens: 0,
        output_tokens: 0,
        context_tokens: 0,
        window_tokens: 0,
        cost_usd: 0,
        turns: 0,
        compactions: 0,
        aborted_last_run: 0,
      })
      .onConflict((conflict) => conflict.columns(['scope', 'key']).doNothing())
      .execute();
    return this.#db
      .selectFrom('assistant_sessions')
      .selectAll()
      .where('scope', '=', scope)
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
  }

  get(id: string): Promise<Session | undefined> {
    return this.#db.selectFrom('assistant_sessions').selectAll().where('id', '=', id).executeTakeFirst();
  }

  list(options: { activeSince?: Date; limit?: number; offset?: number } = {}): Promise<Session[]> {
    let query = this.#db
      .selectFrom('assistant_sessions')
      .selectAll()
      .orderBy('updated_at', 'desc')
      .orderBy('id');
    if (options.activeSince) query = query.where('updated_at', '>=', options.activeSince.toISOString());
    if (options.limit !== undefined) query = query.limit(options.limit).offset(options.offset ?? 0);
    return query.execute();
  }

  async count(activeSince?: Date): Promise<number> {
    let query = this.#db.selectFrom('assistant_sessions').select((eb) => eb.fn.countAll<number>().as('n'));
    if (activeSince) query = query.where('updated_at', '>=', activeSince.toISOString());
    return Number((await query.executeTakeFirstOrThrow()).n);
  }

  /** Adds what a finished turn used. */
  async addTurn(id: string, turn: TurnTotals): Promise<void> {
    await this.#db
      .updateTable('assistant_sessions')
      .set((eb) => ({
        updated_at: this.#now().toISOString(),
        ...(turn.model === undefined ? {} : { model: turn.model }),
        ...(turn.contextTokens > 0 ? { context_tokens: turn.contextTokens } : {}),
        window_tokens: turn.windowTokens,
        input_tokens: eb('input_tokens', '+', turn.inputTokens),
        output_tokens: eb('output_tokens', '+', turn.outputTokens),
        cost_usd: eb('cost_usd', '+', turn.costUsd),
        turns: eb('turns', '+', turn.aborted ? 0 : 1),
        aborted_last_run: turn.aborted ? 1 : 0,
      }))
      .where('id', '=', id)
      .execute();
    this.#changed(id);
  }
}

const MAX_LENGTH = 512;

/** Names that elsewhere mean a private or internal conversation; no caller gets to one by asking for it. */
const RESERVED_NAMES = new Set(['main', 'global', 'unknown', 'system', 'assistant']);
const RESERVED_PREFIXES = [
  'agent:',
  'subagent:',
  'acp:',
  'cron:',
  'hook:',
  'group:',
  'channel:',
  'system:',
  'countersign:',
];

/** `mcp-{timestamp}-{random}`: unguessable, so that one caller cannot hit upon another's conversation. */
export const generateKey = (now: Date): string => `mcp-${now.getTime()}-${randomBytes(12).toString('hex')}`;

/** A key is used exactly as given, so what cannot be a key is refused rather than repaired. */
export function checkKey(key: string): void {
  const refuse = (why: string): never => {
    throw new ToolError('invalid_input', `sessionKey ${why}`, { detail: { field: 'sessionKey' } });
  };
  if (key.trim() === '') refuse('is empty. Omit it to start a separate conversation, or give a name.');
  if (key.length > MAX_LENGTH) refuse(`is longer than ${MAX_LENGTH} characters. Use a shorter name.`);
  if (/\p{Cc}/u.test(key)) refuse('contains a control character. Use printable characters only.');
  const folded = key.trim().toLowerCase();
  if (RESERVED_NAMES.has(folded) || RESERVED_PREFIXES.some((prefix) => folded.startsWith(prefix))) {
    refuse('is a reserved name. Choose another, such as user-123-conversation.');
  }
}
