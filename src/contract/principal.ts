/**
 * Who acts. An agent's id is its token's name; every client without a token is the one agent `local`,
 * so that a self-declared client name never counts as a second pair of eyes.
 */
export interface Principal {
  readonly kind: 'agent' | 'person' | 'system';
  readonly id: string;
  /** What the client calls itself: shown to people, never used for a decision. */
  readonly label?: string;
  /**
   * The principal whose order it carries out, in its written form, where an agent takes orders from others: shown to people
   * and kept as evidence, never used for a decision.
   */
  readonly orderedBy?: string;
}

export const LOCAL_AGENT: Principal = { kind: 'agent', id: 'local' };

/** The written form used in rules, evidence and listings: `agent:local`, `person:ada`, `system:scheduler`. */
export const principalName = (who: Principal): string => `${who.kind}:${who.id}`;

/**
 * A person's answer in a dialog of the client, which a file of a project or the client itself may have given: wherever the
 * decider is named, the name says so. A client chooses its own name, so only letters, digits and a few signs of it are shown.
 */
export const throughDialog = (person: Principal, client: string | undefined): Principal => {
  const name = client?.replace(/[^\p{L}\p{N}._/@+-]+/gu, ' ').trim();
  return { ...person, id: `${person.id} (dialog of ${name ? name.slice(0, 80) : 'an unnamed client'})` };
};

/** For people: who asks, and on whose order. */
export const describeRequester = (who: Principal): string =>
  who.orderedBy === undefined ? principalName(who) : `${principalName(who)} for ${who.orderedBy}`;

/** Reads the written form; undefined when the text is not one. */
export function parsePrincipal(text: string): Principal | undefined {
  const [, kind, id] = /^(agent|person|system):(\P{Cc}+)$/u.exec(text) ?? [];
  return kind !== undefined && id !== undefined ? { kind: kind as Principal['kind'], id } : undefined;
}

export const samePrincipal = (a: Principal, b: Principal): boolean => a.kind === b.kind && a.id === b.id;

/**
 * May this reader see what that principal (in its written form) did or asked for? An agent sees its own, people and the
 * system everything. The system's jobs work for the person who set the server up, and that is who calls without a name.
 */
export const isShownTo = (reader: Principal, owner: string): boolean =>
  reader.kind !== 'agent' ||
  principalName(reader) === owner ||
  (owner.startsWith('system:') && samePrincipal(reader, LOCAL_AGENT));

/**
 * Any agent can omit its token and be `local`, give the assistant an order, or schedule a post: what comes under
 * these names may come from the very one that wants to decide on it.
 */
export const isSharedIdentity = (who: Principal): boolean => SHARED_IDENTITIES.includes(principalName(who));
export const SHARED_IDENTITIES: readonly string[] = ['agent:local', 'agent:assistant', 'system:scheduler'];
