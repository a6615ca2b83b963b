import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { canonicalJson } from '../lib/canonical.ts';
import { isObject } from '../lib/is-object.ts';
import { lookup } from '../lib/lookup.ts';
import { showUnseen, UNSEEN } from '../lib/unseen.ts';
import { deedWarnings } from './effects.ts';

/** A tool exactly as its server lists it. */
export interface Definition extends JsonObject {
  name: string;
}

/** Stands for a server that has no tools: what a person trusts is then that its resources and prompts are offered. */
export const WITHOUT_TOOLS: Definition = {
  name: 'resources and prompts',
  description: 'The server has no tools. Trusting this offers its resources and prompts.',
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object' },
};

/** The pin: SHA-256 over the canonical form of the whole definition, so that no field can change unseen. */
export const pinOf = (definition: Definition): string =>
  createHash('sha256').update(canonicalJson(definition)).digest('hex');

export const isDefinition = (value: unknown): value is Definition =>
  isObject<JsonValue>(value) &&
  typeof value.name === 'string' &&
  value.name !== '' &&
  isObject<JsonValue>(value.inputSchema);

export interface FieldChange {
  /** Where, as `inputSchema.properties.path.description`. */
  readonly field: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** Field by field, so that a person sees one changed word in a long description. */
export function compare(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  field = '',
): FieldChange[] {
  if (before === after) return [];
  if (isObject<JsonValue>(before) && isObject<JsonValue>(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) =>
      compare(lookup(before, name), lookup(after, name), field ? `${field}.${name}` : name),
    );
  }
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after))
    return [];
  return [{ field, before, after }];
}

/** So much of what stayed the same is shown around what changed. */
const AROUND = 60;

/** Everything that changed, however late in the text it is; only what both begin and end with is left out. */
export function describeChange({ field, before, after }: FieldChange): string {
  const [old = '', now = ''] = [before, after].map((one) =>
    one === undefined ? 'nothing' : showUnseen(JSON.stringify(one)),
  );
  const shared = Math.min(old.length, now.length);
  let start = 0;
  while (start < shared && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shared - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const part = (text: string): string => {
    const [from, to] = [Math.max(0, start - AROUND), Math.min(text.length, text.length - end + AROUND)];
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
  };
  return `${showUnseen(field)}: ${part(old)} → ${part(now)}`;
}

/** Phrases that speak to a model and not about the tool. Flagged for a person, never decided on. */
const SUSPICIOUS: readonly (readonly [RegExp, string])[] = [
  [
    /ignore (all |any )?(previous|prior|earlier|other) (instructions|rules|tools)/i,
    'instructs the model to ignore other instructions',
  ],
  [
    /\b(do not|don't|never) (tell|mention|inform|show|reveal)\b[^.]{0,40}\b(user|person|human)/i,
    'asks to hide something from a person',
  ],
  [/<\/?(system|important|instructions?|assistant|secret)\b/i, 'contains markup that imitates instructions'],
  [
    /\b(before|instead of|whenever) (using|calling|you (use|call))\b[^.]{0,60}\b(must|always|first)\b/i,
    'changes how other tools are used',
  ],
  [/(\.ssh|id_rsa|\.aws\/credentials|\.env\b|api[_ -]?key|password|private key)/i, 'mentions credentials'],
  [
    /\b(send|post|upload|forward|include)\b[^.]{0,60}\b(conversation|chat history|context|system prompt|file contents)/i,
    'asks for the conversation or files',
  ],
];

/** What a person should look at before trusting a definition. */
export function warningsOf(definition: Definition): string[] {
  const text = textsOf(definition).join('\n');
  const hidden = [...text.matchAll(UNSEEN)].length;
  return [
    ...(hidden > 0
      ? [`Contains ${hidden} invisible or direction-changing ${hidden === 1 ? 'character' : 'characters'}`]
      : []),
    ...SUSPICIOUS.filter(([pattern]) => pattern.test(text.slice(0, 100_000))).map(([, why]) => `Text ${why}`),
    ...(text.length > 20_000 ? ['Unusually long text'] : []),
    ...deedWarnings(definition),
  ];
}

function textsOf(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (isObject<JsonValue>(value))
    return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)]);
  return [];
}
