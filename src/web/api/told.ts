import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { outcomeData } from '../../kernel/evidence.ts';
import { hintFor } from './hints.ts';

/** What came of a call, as a page tells it: what went wrong comes with what can be done about it. */
export const toldOutcome = (outcome: Outcome): JsonObject => withHint(outcomeData(outcome));

/** The same for an outcome that was kept. */
export const toldKept = (kept: JsonValue | undefined): JsonValue =>
  typeof kept === 'object' && kept !== null && !Array.isArray(kept) ? withHint(kept) : (kept ?? null);

function withHint(told: JsonObject): JsonObject {
  const hint = typeof told.code === 'string' ? hintFor(told.code) : undefined;
  return hint === undefined ? told : { ...told, hint };
}
