/**
 * Who acts. An agent's id is its token's name; every client without a token is the one agent `local`,
 * so that a self-declared client name never counts as a second pair of eyes.
 */
export interface Principal {
  readonly kind: 'agent' | 'person' | 'system';
  readonly id: string;
  /** What the client calls itself: shown to people, never used for a decision. */
  readonly label?: string;
}

export const LOCAL_AGENT: Principal = { kind: 'agent', id: 'local' };

/** The written form used in rules, evidence and listings: `agent:local`, `person:ada`, `system:scheduler`. */
export const principalName = (who: Principal): string => `${who.kind}:${who.id}`;

export const samePrincipal = (a: Principal, b: Principal): boolean => a.kind === b.kind && a.id === b.id;

/**
 * Any agent can leave its token away and be `local`, give the assistant an order, or schedule a post: what comes under
 * these names may come from whoever wants to decide on it.
 */
export const mayBeAnybody = (who: Principal): boolean => PROXIES.includes(principalName(who));
export const PROXIES: readonly string[] = ['agent:local', 'agent:assistant', 'system:scheduler'];
