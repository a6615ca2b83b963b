import type { JsonObject, JsonValue } from '../contract/json.ts';
import { principalName } from '../contract/principal.ts';
import { SERVER_CATEGORY, type ServerSettings } from '../contract/servers.ts';
import type { Tool } from '../contract/tool.ts';
import { isObject } from '../lib/is-object.ts';
import { lookup } from '../lib/lookup.ts';
import { deadlineOf, requestWithAnswers } from './asking.ts';
import { OFFER_METHODS, type OfferMethod, offerTool, publicName } from './names.ts';
import { governedAsk } from './questions.ts';
import { finishOffer } from './results.ts';
import { anyResult, jsonSchema } from './schema.ts';
import { hideSecrets } from './secrets.ts';
import type { ServerServices } from './server-tools.ts';

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
      errors: ['server_unavailable', 'server_error'],
      input: jsonSchema({ type: 'object', required: [required] }),
      output: anyResult(),
      deadlineMs: deadlineOf(settings),
      asksClient: settings.may_ask.length > 0 && mayAsk(method),
      forEvidence: (part) => hideSecrets(part, secrets()),
      async run(args, context) {
        const { services, signal, meta, progress, log, principal, connection } = context;
        const upstream = await services.upstreamOf(connection);
        const params = meta === undefined ? args : { ...args, _meta: meta };
        if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
          const uri = String(args.uri);
          await (method === 'resources/subscribe' ? upstream.subscribe(uri) : upstream.unsubscribe(uri));
          return {};
        }
        const asking = mayAsk(method) ? governedAsk(server, settings, context) : undefined;
        const result = await requestWithAnswers(upstream, method, params, asking, {
          principal: principalName(principal),
          signal,
          mayRetry: true,
          onLog: log,
          onProgress: ({ progress: done, total, message }) =>
            progress(upstream.hide(message ?? ''), done, total),
        });
        return finishOffer(result, settings, upstream.secrets, context);
      },
    };
  });

/** The protocol lets a server ask only in these. */
const mayAsk = (method: OfferMethod): boolean => method === 'resources/read' || method === 'prompts/get';

/** What one server offered when it was listed last. */
export interface ServerOffers {
  readonly server: string;
  readonly offers: JsonObject;
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

  #findPrompt(name: JsonValue | undefined): { server: string; name: string } | undefined {
    for (const { server, offers } of this.#servers)
      for (const prompt of listOf(offers.prompts))
        if (this.#promptName(server, prompt) === name) return { server, name: String(prompt.name) };
    return undefined;
  }

  /** Listed, or fitting a template; a resource that no one lists goes to the only server that has any. */
  #ownerOf(uri: JsonValue | undefined): string | undefined {
    if (typeof uri !== 'string') return undefined;
    const has = (kind: 'resources' | 'templates', fits: (one: JsonObject) => boolean): string | undefined =>
      this.#servers.find(({ offers }) => listOf(offers[kind]).some(fits))?.server;
    const withResources = this.#servers.filter(
      ({ offers }) => isObject<JsonValue>(offers.capabilities) && offers.capabilities.resources !== undefined,
    );
    return (
      has('resources', (one) => one.uri === uri) ??
      has(
        'templates',
        (one) => one.uriTemplate === uri || startOf(one.uriTemplate).some((start) => uri.startsWith(start)),
      ) ??
      (withResources.length === 1 ? withResources[0]?.server : undefined)
    );
  }
}

/** What stands before the first variable; a template that begins with one fits nothing by itself. */
const startOf = (template: JsonValue | undefined): string[] => {
  const start = typeof template === 'string' ? (template.split('{')[0] ?? '') : '';
  return start === '' ? [] : [start];
};

const listOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject<JsonValue>) : [];
