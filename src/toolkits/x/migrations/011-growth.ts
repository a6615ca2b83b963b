import type { ColumnDefinitionBuilder, Kysely } from 'kysely';
import type { Engine, Migration } from '../../../contract/migration.ts';

/** Everything toolkit x keeps of its own. `realm` parts the sandbox from the real account: they never mix. */
export const migration: Migration = {
  name: '011-x-growth',
  async up(db, engine) {
    await createPosts(db);
    await createContent(db, engine);
    await createDiscovered(db);
    await createSmallTables(db, engine);
  },
};

const required = (column: ColumnDefinitionBuilder) => column.notNull();

const zero = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);

const idType = (engine: Engine) => (engine === 'sqlite' ? 'integer' : 'serial');
const asId = (engine: Engine) => (column: ColumnDefinitionBuilder) =>
  engine === 'sqlite' ? column.primaryKey().autoIncrement() : column.primaryKey();

async function createPosts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('x_posts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('realm', 'text', required)
    .addColumn('kind', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('text', 'text', required)
    .addColumn('text_key', 'text', required)
    .addColumn('tweet_id', 'text')
    .addColumn('target_tweet_id', 'text')
    .addColumn('target_author_id', 'text')
    .addColumn('target_author', 'text')
    .addColumn('topic', 'text')
    .addColumn('style', 'text')
    .addColumn('actor', 'text', required)
    .addColumn('mentions_product', 'integer', required)
    .addColumn('created_at', 'text', required)
    .addColumn('posted_at', 'text')
    .addColumn('error_code', 'text')
    .addColumn('measured_at', 'text')
    .addColumn('impressions', 'integer')
    .addColumn('likes', 'integer')
    .addColumn('replies', 'integer')
    .addColumn('retweets', 'integer')
    .addColumn('score', 'double precision')
    .execute();
  await db.schema.createIndex('x_posts_by_time').on('x_posts').columns(['realm', 'created_at']).execute();
  await db.schema.createIndex('x_posts_by_text').on('x_posts').columns(['realm', 'text_key']).execute();
  await db.schema
    .createIndex('x_posts_by_author')
    .on('x_posts')
    .columns(['realm', 'target_author_id', 'created_at'])
    .execute();
  await db.schema
    .createTable('x_threads')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('realm', 'text', required)
    .addColumn('thread_key', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('size', 'integer', required)
    .addColumn('owner', 'text')
    .addColumn('owner_until', 'text')
    .addColumn('created_at', 'text', required)
    .addColumn('finished_at', 'text')
    .execute();
  await db.schema.createIndex('x_threads_by_key').on('x_threads').columns(['realm', 'thread_key']).execute();
  await db.schema
    .createTable('x_thread_parts')
    .addColumn('thread_id', 'text', required)
    .addColumn('position', 'integer', required)
    .addColumn('state', 'text', required)
    .addColumn('tweet_id', 'text')
    .addColumn('at', 'text', required)
    .addPrimaryKeyConstraint('x_thread_parts_pk', ['thread_id', 'position'])
    .execute();
}

async function createContent(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema
    .createTable('x_content')
    .addColumn('id', idType(engine), asId(engine))
    .addColumn('realm', 'text', required)
    .addColumn('content_type', 'text', required)
    .addColumn('content', 'text', required)
    .addColumn('topic', 'text')
    .addColumn('style', 'text')
    .addColumn('state', 'text', required)
    .addColumn('scheduled_for', 'text')
    .addColumn('next_try_at', 'text')
    .addColumn('source', 'text', required)
    .addColumn('created_by', 'text', required)
    .addColumn('created_at', 'text', required)
    .addColumn('updated_at', 'text', required)
    .addColumn('claimed_by', 'text')
    .addColumn('claimed_at', 'text')
    .addColumn('attempts', 'integer', zero)
    .addColumn('approval_id', 'integer')
    .addColumn('tweet_id', 'text')
    .addColumn('posted_at', 'text')
    .addColumn('error_code', 'text')
    .addColumn('error', 'text')
    .execute();
  await db.schema
    .createIndex('x_content_due')
    .on('x_content')
    .columns(['realm', 'state', 'next_try_at'])
    .execute();
  await db.schema
    .createTable('x_generated')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('text_key', 'text', required)
    .addColumn('kind', 'text', required)
    .addColumn('topic', 'text')
    .addColumn('style', 'text')
    .addColumn('at', 'text', required)
    .execute();
  await db.schema.createIndex('x_generated_by_text').on('x_generated').columns(['text_key']).execute();
}

async function createDiscovered(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('x_discovered')
    .addColumn('realm', 'text', required)
    .addColumn('tweet_id', 'text', required)
    .addColumn('author_id', 'text', required)
    .addColumn('author_username', 'text', required)
    .addColumn('author_followers', 'integer', required)
    .addColumn('text', 'text', required)
    .addColumn('created_at', 'text', required)
    .addColumn('likes', 'integer', required)
    .addColumn('retweets', 'integer', required)
    .addColumn('replies', 'integer', required)
    .addColumn('has_media', 'integer', required)
    .addColumn('is_quote', 'integer', required)
    .addColumn('score', 'double precision', required)
    .addColumn('signals', 'text', required)
    .addColumn('keyword', 'text')
    .addColumn('source', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('found_at', 'text', required)
    .addColumn('attempts', 'integer', zero)
    .addColumn('next_try_at', 'text')
    .addPrimaryKeyConstraint('x_discovered_pk', ['realm', 'tweet_id'])
    .execute();
  await db.schema
    .createIndex('x_discovered_by_score')
    .on('x_discovered')
    .columns(['realm', 'state', 'score'])
    .execute();
  await db.schema
    .createIndex('x_discovered_by_author')
    .on('x_discovered')
    .columns(['realm', 'author_id'])
    .execute();
}

async function createSmallTables(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema
    .createTable('x_followers')
    .addColumn('realm', 'text', required)
    .addColumn('at', 'text', required)
    .addColumn('followers', 'integer', required)
    .addColumn('following', 'integer', required)
    .addColumn('posts', 'integer', required)
    .addPrimaryKeyConstraint('x_followers_pk', ['realm', 'at'])
    .execute();
  await db.schema
    .createTable('x_actions')
    .addColumn('id', idType(engine), asId(engine))
    .addColumn('realm', 'text', required)
    .addColumn('at', 'text', required)
    .addColumn('action_type', 'text', required)
    .addColumn('status', 'text', required)
    .addColumn('message', 'text', required)
    .addColumn('detail', 'text', required)
    .execute();
  await db.schema.createIndex('x_actions_by_time').on('x_actions').columns(['realm', 'at']).execute();
  await db.schema
    .createTable('x_cursors')
    .addColumn('realm', 'text', required)
    .addColumn('name', 'text', required)
    .addColumn('value', 'text', required)
    .addColumn('updated_at', 'text', required)
    .addPrimaryKeyConstraint('x_cursors_pk', ['realm', 'name'])
    .execute();
  await db.schema
    .createTable('x_media')
    .addColumn('realm', 'text', required)
    .addColumn('media_key', 'text', required)
    .addColumn('media_id', 'text', required)
    .addColumn('expires_at', 'text', required)
    .addPrimaryKeyConstraint('x_media_pk', ['realm', 'media_key'])
    .execute();
  await db.schema
    .createTable('x_llm_usage')
    .addColumn('id', idType(engine), asId(engine))
    .addColumn('at', 'text', required)
    .addColumn('purpose', 'text', required)
    .addColumn('provider', 'text', required)
    .addColumn('model', 'text', required)
    .addColumn('input_tokens', 'integer', required)
    .addColumn('output_tokens', 'integer', required)
    .execute();
  await db.schema.createIndex('x_llm_usage_by_time').on('x_llm_usage').columns(['at']).execute();
}
