import { createHash } from 'node:crypto';
import { QUESTION_KINDS, QUESTION_MARK, type QuestionKind, SERVER_CATEGORY } from '../contract/servers.ts';

const SEPARATOR = '__';

/** Several clients refuse longer names, and characters beyond these. */
const MAX_NAME = 64;
const OTHER = /[^a-zA-Z0-9_-]/g;

/** What agents and policies call a server's tool: `NAME__tool`; a hash keeps shortened and cleaned names apart. */
export function publicName(server: string, tool: string): string {
  const name = `${server}${SEPARATOR}${tool}`;
  const clean = name.replace(OTHER, '_');
  if (clean === name && name.length <= MAX_NAME) return name;
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${clean.slice(0, MAX_NAME - mark.length - 1)}_${mark}`;
}

/**
 * Tools whose public name is theirs alone. Names are cleaned and shortened, so a server can list one that comes out as
 * another's: the one a person trusts keeps the name, else the first, and the other is not offered.
 */
export function withOwnNames<T extends { readonly tool: string; readonly trusted: boolean }>(
  server: string,
  tools: readonly T[],
): T[] {
  const owners = new Map<string, T>();
  for (const one of tools) {
    const name = publicName(server, one.tool);
    const owner = owners.get(name);
    if (!owner || (one.trusted && !owner.trusted)) owners.set(name, one);
  }
  return tools.filter((one) => owners.get(publicName(server, one.tool)) === one);
}

/** How rules may also name a tool; undefined for one that would pass for an unlisted tool of the server. */
export function policyNameOf(server: string, tool: string): string | undefined {
  const name = `${server}.${tool}`;
  const unlisted = [...offerEntries(server), ...questionEntries(server)];
  return unlisted.some((one) => one.name === name) ? undefined : name;
}

/** Protocol methods beyond tools that reach a server; each is a read through the pipeline, under this name. */
export const OFFER_METHODS = {
  'resources/read': { name: 'resources.read', title: 'Read a resource', required: 'uri' },
  'resources/subscribe': { name: 'resources.subscribe', title: 'Subscribe to a resource', required: 'uri' },
  'resources/unsubscribe': {
    name: 'resources.unsubscribe',
    title: 'Unsubscribe from a resource',
    required: 'uri',
  },
  'prompts/get': { name: 'prompts.get', title: 'Get a prompt', required: 'name' },
  'completion/complete': { name: 'completion.complete', title: 'Complete an argument', required: 'ref' },
} as const;

export type OfferMethod = keyof typeof OFFER_METHODS;

export const offerTool = (server: string, method: OfferMethod): string =>
  `${server}.${OFFER_METHODS[method].name}`;

export const offerEntries = (server: string) =>
  (Object.keys(OFFER_METHODS) as OfferMethod[]).map((method) => ({
    name: offerTool(server, method),
    category: SERVER_CATEGORY as string,
  }));

/** The protocol's requests by which a server asks the calling client. */
export const QUESTION_METHODS = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
} as const satisfies Record<QuestionKind, string>;

export const questionTool = (server: string, kind: QuestionKind): string =>
  `${server}${QUESTION_MARK}${kind}`;

export const questionEntries = (server: string) =>
  QUESTION_KINDS.map((kind) => ({ name: questionTool(server, kind), category: kind as string }));
