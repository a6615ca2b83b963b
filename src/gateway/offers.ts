import { ToolError } from '../contract/errors.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { principalName } from '../contract/principal.ts';
import { SERVER_CATEGORY, type ServerSettings } from '../contract/servers.ts';
import type { Tool } from '../contract/tool.ts';
import { isObject } from '../lib/is-object.ts';
import { lookup } from '../lib/lookup.ts';
import { showUnseen } from '../lib/unseen.ts';
import { deadlineOf, requestWithAnswers } from './asking.ts';
import { OFFER_METHODS, type OfferMethod, offerTool, publicName } from './names.ts';
import { governedAsk } from './questions.ts';
import { finishOffer } from './results.ts';
import { anyResult, jsonSchema } from './schema.ts';
import { hideSecrets } from './secrets.ts';
import type { ServerServices } from './server-tools.ts';
import type { Listing } from './upstream.ts';
import { matchesTemplate } from './uri-template.ts';

/** Not listed: a client asks for resources and prompts by their own methods, and policy knows them by these names. */
export const createOfferTools = (
  server: string,
  settings: ServerSettings,
  secrets: () => readonly string[],
): Tool<ServerServices>[] =>
  (Object.keys(OFFER_METHODS) as OfferMethod[]).map((method) => {
    const { title, required } = OFFER_METHODS[method];
    return {
      name: offerTool(server, method),
      title: `${title} of the server ${server}`,
      summary: `${title} of the server ${server}.`,
      effect: 'read',
      reach: 'network',
      category: SERVER_CATEGORY,
      profiles: [],
      errors: ['not_found', 'server_unavailable', 'server_error'],
      input: jsonSchema({ type: 'object', required: [required] }),
      output: anyResult(),
      deadlineMs: deadlineOf(settings),
      asksClient: settings.may_ask.length > 0 && mayAsk(method),
      forEvidence: (part) => hideSecrets(part, secrets()),
      async run(args, context) {
        const { services, signal, meta, progress, log, principal, connection } = context;
        const upstream = await services.upstreamOf(connection);
        const params = meta === undefined ? args : { ...args, _meta: meta };
        const who = principalName(principal);
        const before = ({ offers }: Listing): void =>
          requireOffered(server, method, args, offers, (uri) => upstream.hasReturned(uri, who));
        if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
          const uri = String(args.uri);
          await (method === 'resources/subscribe'
            ? upstream.subscribe(uri, before)
            : upstream.unsubscribe(uri));
          return {};
        }
        const asking = mayAsk(method) ? governedAsk(server, settings, context) : undefined;
        const result = await requestWithAnswers(upstream, method, params, asking, {
          principal: who,
          signal,
          mayRetry: true,
          before,
          onLog: log,
          onProgress: ({ progress: done, total, message }) =>
            progress(upstream.hide(message ?? ''), done, total),
        });
        upstream.noteReturned(result, who);
        return finishOffer(result, settings, upstream.secrets, context);
      },
    };
  });

/** The protocol lets a server ask only in these. */
const mayAsk = (method: OfferMethod): boolean => method === 'resources/read' || method === 'prompts/get';

/** Asked with the listing of the running server: nothing reaches it that it neither listed nor returned to this principal. */
function requireOffered(
  server: string,
  method: OfferMethod,
  args: JsonObject,
  offers: JsonObject,
  isReturned: (uri: string) => boolean,
): void {
  const ref = isObject<JsonValue>(args.ref) ? args.ref : {};
  const isCompletion = method === 'completion/complete';
  if (method === 'prompts/get' || (isCompletion && ref.type === 'ref/prompt')) {
    const name = String(isCompletion ? ref.name : args.name);
    if (listOf(offers.prompts).some((one) => one.name === name)) return;
    throw notOffered(`Prompt not found: the server ${server} does not list`, name);
  }
  const uri = String(isCompletion ? ref.uri : args.uri);
  const isTemplate = isCompletion && listOf(offers.templates).some(({ uriTemplate }) => uriTemplate === uri);
  if (isTemplate || listsResource(offers, uri) || matchesAny(offers, uri) || isReturned(uri)) return;
  throw notOffered(`Resource not found: the server ${server} lists no resource and no template for`, uri);
}

const notOffered = (what: string, name: string): ToolError =>
  new ToolError('not_found', `${what} ${showUnseen(name.slice(0, MAX_SHOWN))}. Nothing was sent to it.`, {
    effect: 'none',
  });

const MAX_SHOWN = 200;

const listsResource = (offers: JsonObject, uri: string): boolean =>
  listOf(offers.resources).some((one) => one.uri === uri);

const matchesAny = (offers: JsonObject, uri: string): boolean =>
  listOf(offers.templates).some(
    ({ uriTemplate }) => typeof uriTemplate === 'string' && matchesTemplate(uriTemplate, uri),
  );

/** URIs that a server hands out in a result: links, embedded resources, and what it gives for one that is read. */
export function urisIn({ content, contents, messages }: JsonObject): string[] {
  const said = listOf(messages).flatMap((one) =>
    Array.isArray(one.content) ? one.content : [one.content ?? null],
  );
  return listOf([...listOf(content), ...said, ...listOf(contents)]).flatMap(({ uri, resource }) =>
    [uri, isObject<JsonValue>(resource) ? resource.uri : undefined].filter((one) => typeof one === 'string'),
  );
}

/** What one server offered when it was listed last. */
export interface ServerOffers {
  readonly server: string;
  readonly offers: JsonObject;
  /** It gave this URI to a client in a result. */
  hasReturned?(uri: string): boolean;
}

export interface Route {
  readonly tool: string;
  readonly args: JsonObject;
}

/** Resources and prompts of all servers as one list, and which server a request belongs to. Nothing is started. */
export class Offers {
  readonly #servers: readonly ServerOffers[];
  readonly #ownNames: boolean;

  /** `ownNames`: prompts keep the server's names, for one server that is wrapped. */
  constructor(servers: readonly ServerOffers[], ownNames = false) {
    this.#servers = servers;
    this.#ownNames = ownNames;
  }

  /** The first server that names a resource owns it. */
  resources(): JsonObject[] {
    return this.#all('resources', 'uri');
  }

  templates(): JsonObject[] {
    return this.#all('templates', 'uriTemplate');
  }

  prompts(): JsonObject[] {
    return this.#servers.flatMap(({ server, offers }) =>
      listOf(offers.prompts).map((prompt) => ({ ...prompt, name: this.#promptName(server, prompt) })),
    );
  }

  /** The unlisted tool that a request belongs to, or undefined when it is no server's. */
  find(method: OfferMethod, params: JsonObject): Route | undefined {
    if (method === 'prompts/get') return this.#prompt(params);
    if (method === 'completion/complete') return this.#complete(params);
    const owner = this.#ownerOf(params.uri);
    return owner === undefined ? undefined : { tool: offerTool(owner, method), args: params };
  }

  #prompt(params: JsonObject): Route | undefined {
    const found = this.#findPrompt(params.name);
    return found && { tool: offerTool(found.server, 'prompts/get'), args: { ...params, name: found.name } };
  }

  #complete(params: JsonObject): Route | undefined {
    const ref = isObject<JsonValue>(params.ref) ? params.ref : {};
    if (ref.type === 'ref/prompt') {
      const found = this.#findPrompt(ref.name);
      const args = { ...params, ref: { ...ref, name: found?.name ?? '' } };
      return found && { tool: offerTool(found.server, 'completion/complete'), args };
    }
    const owner = this.#ownerOf(ref.uri);
    return owner === undefined ? undefined : { tool: offerTool(owner, 'completion/complete'), args: params };
  }

  #all(kind: 'resources' | 'templates', key: string): JsonObject[] {
    const all = new Map<JsonValue, JsonObject>();
    for (const { offers } of this.#servers)
      for (const one of listOf(offers[kind]))
        if (!all.has(lookup(one, key) ?? null)) all.set(lookup(one, key) ?? null, one);
    return [...all.values()];
  }

  #promptName(server: string, { name }: JsonObject): string {
    return this.#ownNames ? String(name) : publicName(server, String(name));
  }

  /** One that is not listed goes to the server it is named after, whose tool refuses it: that leaves evidence. */
  #findPrompt(name: JsonValue | undefined): { server: string; name: string } | undefined {
    if (typeof name !== 'string') return undefined;
    for (const { server, offers } of this.#servers)
      for (const prompt of listOf(offers.prompts))
        if (this.#promptName(server, prompt) === name) return { server, name: String(prompt.name) };
    const startOf = (server: string): string => (this.#ownNames ? '' : publicName(server, ''));
    const named = this.#servers.find(({ server }) => name.startsWith(startOf(server)))?.server;
    return named === undefined ? undefined : { server: named, name: name.slice(startOf(named).length) };
  }

  /**
   * Listed, matching a template, or returned in a result. One that is none of these goes to the first server that has
   * resources, whose tool refuses it: that leaves evidence.
   */
  #ownerOf(uri: JsonValue | undefined): string | undefined {
    if (typeof uri !== 'string') return undefined;
    const find = (isOwner: (one: ServerOffers) => boolean): string | undefined =>
      this.#servers.find(isOwner)?.server;
    return (
      find(({ offers }) => listsResource(offers, uri)) ??
      find(({ offers }) => listOf(offers.templates).some(({ uriTemplate }) => uriTemplate === uri)) ??
      find(({ offers }) => matchesAny(offers, uri)) ??
      find(({ hasReturned }) => hasReturned?.(uri) === true) ??
      find(
        ({ offers }) =>
          isObject<JsonValue>(offers.capabilities) && offers.capabilities.resources !== undefined,
      )
    );
  }
}

const listOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject<JsonValue>) : [];
