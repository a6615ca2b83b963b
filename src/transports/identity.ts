import { CliError } from '../contract/command.ts';
import { LOCAL_AGENT, type Principal } from '../contract/principal.ts';
import type { Served } from './served.ts';

/** What an agent shows at an entry point. */
export interface Credentials {
  /** An agent's token; an empty one counts as shown, and is refused. */
  readonly token: string | undefined;
  /** Set where clients on other machines can reach the entry point. */
  readonly needsToken?: boolean;
}

export type Identity =
  | { readonly principal: Principal }
  | { readonly principal?: undefined; readonly refused: 'missing' | 'unknown' };

/**
 * Resolves who is calling, for every entry point of agents: a token names its agent wherever it is shown, and only a
 * caller on this machine without one is `local`. Nothing else may decide this, or a rule for one agent could be
 * passed by choosing another entry point.
 */
export async function resolvePrincipal(
  { authenticate }: Pick<Served, 'authenticate'>,
  { token, needsToken = false }: Credentials,
): Promise<Identity> {
  if (token === undefined) return needsToken ? { refused: 'missing' } : { principal: LOCAL_AGENT };
  const principal = await authenticate(token);
  return principal ? { principal } : { refused: 'unknown' };
}

/** For a server that its client starts: an invalid token ends the process instead of serving as someone else. */
export async function requireStdioPrincipal(
  served: Pick<Served, 'authenticate'>,
  token: string | undefined,
): Promise<Principal> {
  const { principal } = await resolvePrincipal(served, { token });
  if (principal) return principal;
  // A client's entry that refers to an unset variable: serving it as `local` would pass by the rules for its agent.
  if (token === '')
    throw new CliError(
      'COUNTERSIGN_TOKEN is set but empty. Set it to a token of `countersign agents add NAME`, or remove it to be the agent `local`.',
    );
  throw new CliError(
    'COUNTERSIGN_TOKEN is invalid or revoked. Create a token with `countersign agents add NAME`.',
  );
}
