import type { Kysely } from 'kysely';
import type { JsonObject } from '../../../contract/json.ts';
import type { ActionRow, GrowthTables, PostKind } from './tables.ts';

export interface FollowerCount {
  readonly at: Date;
  readonly followers: number;
  readonly following: number;
  readonly posts: number;
}

export interface LlmUse {
  readonly at: Date;
  readonly purpose: string;
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const DAY = 86_400_000;

/** The small records of the growth engine: what it did, how the account grew, where each loop stands. */
export class ActivityStore {
  readonly #db: Kysely<GrowthTables>;
  readonly #realm: () => Promise<string>;

  constructor(db: Kysely<GrowthTables>, realm: () => Promise<string>) {
    this.#db = db;
    this.#realm = realm;
  }

  async act(at: Date, type: string, status: string, message: string, detail: JsonObject = {}): Promise<void> {
    await this.#db
      .insertInto('x_actions')
      .values({
        realm: await this.#realm(),
        at: at.toISOString(),
        action_type: type,
        status,
        message,
        detail: JSON.stringify(detail),
      })
      .execute();
  }

  async actions(since: Date, limit: number, type?: string): Promise<readonly ActionRow[]> {
    let query = this.#db
      .selectFrom('x_actions')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('at', '>=', since.toISOString());
    if (type) query = query.where('action_type', '=', type);
    return query.orderBy('id', 'desc').limit(limit).execute();
  }

  async actionCounts(
    since: Date,
  ): Promise<readonly { action_type: string; status: string; count: number }[]> {
    const rows = await this.#db
      .selectFrom('x_actions')
      .select((eb) => ['action_type', 'status', eb.fn.countAll().as('count')])
      .where('realm', '=', await this.#realm())
      .where('at', '>=', since.toISOString())
      .groupBy(['action_type', 'status'])
      .orderBy('action_type')
      .execute();
    return rows.map((row) => ({ ...row, count: Number(row.count) }));
  }

  async followers(count: FollowerCount): Promise<void> {
    const { at, ...numbers } = count;
    await this.#db
      .insertInto('x_followers')
      .values({ realm: await this.#realm(), at: at.toISOString(), ...numbers })
      .onConflict((conflict) => conflict.columns(['realm', 'at']).doUpdateSet(numbers))
      .execute();
  }

  /** Oldest first. */
  async followerTrend(since: Date): Promise<readonly FollowerCount[]> {
    const rows = await this.#db
      .selectFrom('x_followers')
      .selectAll()
      .where('realm', '=', await this.#realm())
      .where('at', '>=', since.toISOString())
      .orderBy('at')
      .execute();
    return rows.map(({ at, followers, following, posts }) => ({
      at: new Date(at),
      followers,
      following,
      posts,
    }));
  }

  async cursor(name: string): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom('x_cursors')
      .select('value')
      .where('realm', '=', await this.#realm())
      .where('name', '=', name)
      .executeTakeFirst();
    return row?.value;
  }

  async setCursor(name: string, value: string, at: Date): Promise<void> {
    const values = { value, updated_at: at.toISOString() };
    await this.#db
      .insertInto('x_cursors')
      .values({ realm: await this.#realm(), name, ...values })
      .onConflict((conflict) => conflict.columns(['realm', 'name']).doUpdateSet(values))
      .execute();
  }

  async cursors(prefix: string): Promise<readonly { name: string; value: string; updated_at: string }[]> {
    return this.#db
      .selectFrom('x_cursors')
      .select(['name', 'value', 'updated_at'])
      .where('realm', '=', await this.#realm())
      .where('name', 'like', `${prefix}%`)
      .orderBy('name')
      .execute();
  }

  async generated(
    item: {
      readonly id: string;
      readonly textKey: string;
      readonly kind: PostKind;
      readonly topic?: string;
      readonly style?: string;
    },
    at: Date,
  ): Promise<void> {
    await this.#db
      .insertInto('x_generated')
      .values({
        id: item.id,
        text_key: item.textKey,
        kind: item.kind,
        topic: item.topic ?? null,
        style: item.style ?? null,
        at: at.toISOString(),
      })
      .execute();
  }

  async llmUsed(use: LlmUse): Promise<void> {
    await this.#db
      .insertInto('x_llm_usage')
      .values({
        at: use.at.toISOString(),
        purpose: use.purpose,
        provider: use.provider,
        model: use.model,
        input_tokens: use.inputTokens,
        output_tokens: use.outputTokens,
      })
      .execute();
  }

  async llmUsage(since: Date) {
    const rows = await this.#db
      .selectFrom('x_llm_usage')
      .select((eb) => [
        'provider',
        'model',
        eb.fn.countAll().as('calls'),
        eb.fn.sum('input_tokens').as('input_tokens'),
        eb.fn.sum('output_tokens').as('output_tokens'),
      ])
      .where('at', '>=', since.toISOString())
      .groupBy(['provider', 'model'])
      .execute();
    return rows.map(({ provider, model, ...sums }) => ({
      provider,
      model,
      calls: Number(sums.calls),
      input_tokens: Number(sums.input_tokens),
      output_tokens: Number(sums.output_tokens),
    }));
  }

  async uploadedMedia(key: string, now: Date): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom('x_media')
      .select('media_id')
      .where('realm', '=', await this.#realm())
      .where('media_key', '=', key)
      .where('expires_at', '>', now.toISOString())
      .executeTakeFirst();
    return row?.media_id;
  }

  async mediaUploaded(key: string, mediaId: string, expiresAt: Date): Promise<void> {
    const values = { media_id: mediaId, expires_at: expiresAt.toISOString() };
    await this.#db
      .insertInto('x_media')
      .values({ realm: await this.#realm(), media_key: key, ...values })
      .onConflict((conflict) => conflict.columns(['realm', 'media_key']).doUpdateSet(values))
      .execute();
  }

  /** Unanswered finds go after a week, actions after two, numbers after ninety days. */
  async cleanUp(now: Date): Promise<void> {
    const before = (days: number): string => new Date(now.getTime() - days * DAY).toISOString();
    await this.#db
      .deleteFrom('x_discovered')
      .where('state', '!=', 'replied')
      .where('found_at', '<', before(7))
      .execute();
    await this.#db.deleteFrom('x_actions').where('at', '<', before(14)).execute();
    await this.#db.deleteFrom('x_discovered').where('found_at', '<', before(90)).execute();
    await this.#db.deleteFrom('x_generated').where('at', '<', before(90)).execute();
    await this.#db.deleteFrom('x_llm_usage').where('at', '<', before(365)).execute();
    await this.#db.deleteFrom('x_media').where('expires_at', '<', now.toISOString()).execute();
  }
}
