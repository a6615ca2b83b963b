import type { JsonSchema } from '../../../contract/json.ts';
import { type Schema, zodSchema } from '../../../contract/schema.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { resultSchema } from '../endpoints/replies.ts';

const made = new Map<string, Schema>();

/** What a table-driven tool returns. Tools with the same reply share one schema, built when it is first needed. */
export function outputSchema(endpoint: Endpoint): Schema {
  const shared = (): Schema => {
    const key = JSON.stringify(endpoint.reply);
    const known = made.get(key) ?? zodSchema(resultSchema(endpoint), 'output');
    made.set(key, known);
    return known;
  };
  return {
    get json(): JsonSchema {
      return shared().json;
    },
    parse: (value) => shared().parse(value),
  };
}
