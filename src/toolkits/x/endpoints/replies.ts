import { z } from 'zod';
import type { Endpoint, EntityName } from './endpoint.ts';

// X adds fields all the time: only what every tool relies on is demanded, everything else passes through.
// Functions, because importing the table must not build schemas that are never used.
const withId = () => z.looseObject({ id: z.string() });
const metrics = () => z.record(z.string(), z.number()).optional();

const ENTITIES: Readonly<Record<EntityName, () => z.ZodType>> = {
  post: () =>
    withId().extend({
      text: z.string(),
      author_id: z.string().optional(),
      conversation_id: z.string().optional(),
      created_at: z.string().optional(),
      public_metrics: metrics(),
    }),
  user: () => withId().extend({ name: z.string(), username: z.string(), public_metrics: metrics() }),
  list: () => withId().extend({ name: z.string(), private: z.boolean().optional() }),
  space: () => withId().extend({ state: z.string().optional(), title: z.string().optional() }),
  dm_event: () => withId().extend({ event_type: z.string().optional(), text: z.string().optional() }),
  dm_conversation: withId,
  count: () => z.looseObject({ start: z.string(), end: z.string() }),
  rule: () =>
    z.looseObject({ id: z.string().optional(), value: z.string().optional(), tag: z.string().optional() }),
  compliance_job: () => withId().extend({ type: z.string().optional(), status: z.string().optional() }),
  usage: () => z.looseObject({ project_cap: z.union([z.string(), z.number()]).optional() }),
  media: () =>
    withId().extend({ media_key: z.string().optional(), expires_after_secs: z.number().optional() }),
  ads_account: () => withId().extend({ name: z.string().optional() }),
  campaign: () => withId().extend({ name: z.string().optional(), entity_status: z.string().optional() }),
  line_item: () => withId().extend({ campaign_id: z.string().optional() }),
  promoted_tweet: () => withId().extend({ tweet_id: z.string().optional() }),
  targeting: () => withId().extend({ targeting_type: z.string().optional() }),
  funding_instrument: () => withId().extend({ type: z.string().optional() }),
  stat: () => z.looseObject({ id: z.string(), id_data: z.array(z.unknown()).optional() }),
};

const flag = () => z.union([z.boolean(), z.string(), z.number()]);

const aside = () => ({
  includes: z.record(z.string(), z.unknown()).optional(),
  errors: z.array(z.unknown()).optional(),
});

/** What X sends. */
export function replySchema(endpoint: Endpoint): z.ZodType {
  const { reply } = endpoint;
  switch (reply.shape) {
    case 'one':
      return z.looseObject({ data: ENTITIES[reply.of](), ...aside() });
    case 'many':
      // X leaves `data` out of an empty page.
      return z.looseObject({ data: z.array(ENTITIES[reply.of]()).optional(), ...aside() });
    case 'flags':
      return z.looseObject({ data: flags(reply.fields) });
    case 'empty':
      return z.unknown();
  }
}

/**
 * What a table-driven tool returns: single things and small answers unwrapped, collections as X sends them. X's description
 * requires no field in the answer to a change; one that lacks them must not look like a failure, or it is sent again.
 */
export function resultSchema(endpoint: Endpoint): z.ZodType {
  const { reply } = endpoint;
  const change = endpoint.effect !== 'read';
  switch (reply.shape) {
    case 'one': {
      const entity = ENTITIES[reply.of]();
      if (!(entity instanceof z.ZodObject)) return entity;
      return (change ? entity.partial() : entity).extend(aside());
    }
    case 'many':
      return z.looseObject({
        data: z.array(ENTITIES[reply.of]()),
        meta: z.record(z.string(), z.unknown()).optional(),
        next_cursor: z.string().nullable().optional(),
        ...aside(),
      });
    case 'flags':
      return change ? flags(reply.fields).partial() : flags(reply.fields);
    case 'empty':
      return z.object({});
  }
}

const flags = (fields: readonly string[]): z.ZodObject =>
  z.looseObject(
    Object.fromEntries(fields.map((name, index) => [name, index === 0 ? flag() : flag().optional()])),
  );
