import { ToolError } from '../contract/errors.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import type { ServerSettings } from '../contract/servers.ts';
import type { ToolContext } from '../contract/tool.ts';
import { isObject } from '../lib/is-object.ts';
import { loadPatterns, maskBudget } from '../lib/pattern.ts';
import { hideSecrets, replaceTexts } from './secrets.ts';

type Artifacts = Pick<ToolContext<unknown>, 'artifact'>;

type Finish = (
  raw: JsonObject,
  settings: ServerSettings,
  secrets: readonly string[],
  context: Artifacts,
) => Promise<JsonObject>;

const finishWith =
  (shorten: (result: JsonObject, stored: Stored) => JsonObject): Finish =>
  async (raw, settings, secrets, context) => {
    const result = await clean(raw, settings, secrets);
    const stored = await storeLong(result, settings, context);
    return stored ? shorten(result, stored) : result;
  };

/** A server's answer as the caller may have it: secrets masked, and cut where it is too long. */
export const finishResult = finishWith(cut);

/** The same for a resource, a prompt or a completion. */
export const finishOffer = finishWith(cutOffer);

const clean = (raw: JsonObject, { mask }: ServerSettings, secrets: readonly string[]): Promise<JsonObject> =>
  maskResult(hideSecrets(withoutOurKeys(raw), secrets), mask);

interface Stored {
  readonly id: string;
  readonly size: number;
  /** Characters that the caller gets. */
  readonly most: number;
}

async function storeLong(
  result: JsonObject,
  { max_result_kb: kilobytes }: ServerSettings,
  { artifact }: Artifacts,
): Promise<Stored | undefined> {
  const whole = JSON.stringify(result);
  const most = Math.floor(kilobytes * 1024);
  if (whole.length <= most) return undefined;
  return { ...(await artifact('result.json', 'application/json', whole)), most };
}

/** The prefix is ours: a server must not be able to write evidence of its own. */
function withoutOurKeys(result: JsonObject): JsonObject {
  if (!isObject<JsonValue>(result._meta)) return result;
  const theirs = Object.entries(result._meta).filter(([key]) => !key.startsWith('countersign/'));
  return { ...result, _meta: Object.fromEntries(theirs) };
}

/** Matches of the person's own patterns replaced in every text, one after the other so that other calls are answered. */
export async function maskResult(result: JsonObject, mask: readonly string[]): Promise<JsonObject> {
  if (mask.length === 0) return result;
  const patterns = mask.map(await loadPatterns());
  const texts = new Map<string, string>();
  replaceTexts(result, (text) => {
    texts.set(text, text);
    return text;
  });
  const budget = maskBudget();
  for (const text of texts.keys()) {
    let shown = text;
    for (const pattern of patterns) shown = await pattern.mask(shown, '[masked]', budget);
    texts.set(text, shown);
  }
  return replaceTexts(result, (text) => texts.get(text) ?? '[masked]') as JsonObject;
}

/** The beginning of the text, and where the rest is. Pictures and structured data cannot be cut, so they are left out. */
function cut(result: JsonObject, stored: Stored): JsonObject {
  const { most } = stored;
  const { structuredContent, content, isError, ...others } = result;
  // What is long need not be the text: then only text is left.
  const rest = JSON.stringify(others).length <= most ? others : {};
  return {
    ...rest,
    content: [...cutTexts(content, most), { type: 'text', text: noteOf(stored) }],
    // A client checks what is not an error against the tool's output schema, which a cut result cannot satisfy.
    ...(structuredContent !== undefined || isError === true ? { isError: true } : {}),
    _meta: { ...(isObject<JsonValue>(rest._meta) ? rest._meta : {}), [ARTIFACT]: stored.id },
  };
}

/** Only the texts of a resource can be cut. */
function cutOffer({ contents }: JsonObject, stored: Stored): JsonObject {
  const [first] = Array.isArray(contents) ? contents : [];
  if (!isObject<JsonValue>(first)) throw new ToolError('server_error', noteOf(stored));
  const note = { uri: first.uri ?? '', mimeType: 'text/plain', text: noteOf(stored) };
  return { contents: [...cutTexts(contents, stored.most), note], _meta: { [ARTIFACT]: stored.id } };
}

const ARTIFACT = 'countersign/artifact';

const noteOf = ({ id, size }: Stored): string =>
  `The result is ${size} bytes long and was cut. Read all of it with gateway_result_read and the artifact ${id}.`;

/** Parts with text, up to this many characters in all. */
function cutTexts(parts: JsonValue | undefined, most: number): JsonObject[] {
  const kept: JsonObject[] = [];
  let left = most;
  for (const part of Array.isArray(parts) ? parts : []) {
    if (!isObject<JsonValue>(part) || typeof part.text !== 'string' || left <= 0) continue;
    const { text, ...others } = part;
    const rest = JSON.stringify(others).length;
    if (rest > left) continue;
    kept.push({ ...others, text: text.slice(0, left) });
    left -= text.length + rest;
  }
  return kept;
}

/** An error the server reports is an outcome of its own, with the server's words as the result. */
export function throwIfError(result: JsonObject, server: string, tool: string): void {
  if (result.resultType === 'input_required')
    throw new ToolError(
      'server_error',
      `${tool} of the server ${server} asks for input, and no client can answer. Allow it with servers.${server}.may_ask.`,
    );
  if (result.isError !== true) return;
  throw new ToolError('server_error', `${tool} of the server ${server} reported an error.`, {
    effect: 'partial',
    result,
  });
}
