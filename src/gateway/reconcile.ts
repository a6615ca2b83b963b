import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { Outcome, Settlement } from '../contract/outcome.ts';
import type { ServerSettings } from '../contract/servers.ts';
import { isObject } from '../lib/is-object.ts';
import { lookup } from '../lib/lookup.ts';
import { loadPatterns, PatternError, searchBudget } from '../lib/pattern.ts';

export type ReconcileSettings = ServerSettings['reconcile'][string];

const REFERENCE = /\$\{args\.([^}]+)\}/g;

/**
 * Calls the read tool that a person named for this change, through the pipeline like any other read, and looks in its
 * result for what only the change can have left there. Anything unclear stays unknown: a person then settles it.
 */
export async function reconcileBy(
  settings: ReconcileSettings,
  args: JsonObject,
  read: (tool: string, args: JsonObject) => Promise<Outcome>,
): Promise<Settlement> {
  const outcome = await read(settings.tool, fill(settings.args, args) as JsonObject);
  const data = outcome.status === 'ok' || outcome.status === 'failed' ? outcome.data : undefined;
  if (data === undefined) return { settled: 'unknown', why: `${settings.tool} gave no result` };
  const text = textOf(data);
  const compile = await loadPatterns();
  const matches = (source: string | undefined): boolean =>
    source !== undefined &&
    (isText(source, args, text) ?? compile(fillPattern(source, args)).test(text, searchBudget()));
  try {
    if (outcome.status === 'ok' && matches(settings.done_if)) return { settled: 'done', data };
    if (matches(settings.not_done_if)) return { settled: 'not_done' };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return { settled: 'unknown', why: `the result of ${settings.tool} was not searched: ${error.message}` };
  }
  return { settled: 'unknown', why: `the result of ${settings.tool} shows neither` };
}

/** Patterns of the file that cannot be used, each with its key. */
export async function patternProblems(
  servers: Readonly<Record<string, ServerSettings>>,
): Promise<{ path: (string | number)[]; message: string }[]> {
  const given = Object.entries(servers).flatMap(([server, { mask, reconcile }]) => [
    ...mask.map((source, index) => ({ path: ['servers', server, 'mask', index], source })),
    ...Object.entries(reconcile).flatMap(([tool, { done_if, not_done_if }]) =>
      Object.entries({ done_if, not_done_if }).flatMap(([key, source]) =>
        // An argument becomes text, and any text will do here.
        source === undefined
          ? []
          : [{ path: ['servers', server, 'reconcile', tool, key], source: source.replace(REFERENCE, 'a') }],
      ),
    ),
  ]);
  if (given.length === 0) return [];
  const compile = await loadPatterns();
  return given.flatMap(({ path, source }) => {
    try {
      compile(source);
      return [];
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      return [{ path, message: error.message }];
    }
  });
}

/**
 * A pattern that is nothing but text, arguments and the ends of the result is compared as text, because a file that was
 * written is too long for an expression. Undefined for any other.
 */
function isText(source: string, args: JsonObject, text: string): boolean | undefined {
  const [, begin, body = '', end] = /^(\^?)(.*?)(\$?)$/su.exec(source) ?? [];
  if (/[\\^$.*+?()[\]{}|]/u.test(body.replace(REFERENCE, ''))) return undefined;
  const wanted = body.replace(REFERENCE, (_, name: string) => argumentText(args, name));
  if (begin && end) return text === wanted;
  if (begin) return text.startsWith(wanted);
  return end ? text.endsWith(wanted) : text.includes(wanted);
}

/** What an argument of the call is; never what every object has. */
const argumentText = (args: JsonObject, name: string): string => asText(lookup(args, name));

/** A value that is nothing but a reference keeps its type; one inside a text becomes part of it. */
function fill(value: JsonValue, args: JsonObject): JsonValue {
  if (typeof value === 'string') {
    const [whole, name = ''] = /^\$\{args\.([^}]+)\}$/.exec(value) ?? [];
    if (whole !== undefined) return lookup(args, name) ?? null;
    return value.replace(REFERENCE, (_, one: string) => argumentText(args, one));
  }
  if (Array.isArray(value)) return value.map((one) => fill(one, args));
  if (!isObject<JsonValue>(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, args)]));
}

/** An argument is text to look for, never part of the expression. */
const fillPattern = (source: string, args: JsonObject): string =>
  source.replace(REFERENCE, (_, name: string) =>
    argumentText(args, name).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'),
  );

const asText = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);

/** What a person would read of the result: its texts, and its structured part as JSON. */
function textOf(data: JsonValue): string {
  if (!isObject<JsonValue>(data)) return asText(data);
  const parts = Array.isArray(data.content) ? data.content : [];
  const texts = parts.map((part) => (isObject<JsonValue>(part) ? asText(part.text) : ''));
  return [...texts, ...(data.structuredContent === undefined ? [] : [asText(data.structuredContent)])].join(
    '\n',
  );
}
