import { ALL_ENDPOINTS } from '../endpoints/table.ts';

/** Without it X gives no refresh token and the sign-in ends after two hours. */
const STAY_SIGNED_IN = 'offline.access';

/** Every scope some tool needs: what `auth x` asks for unless told less. */
export const wantedScopes = (): readonly string[] =>
  [...new Set([...ALL_ENDPOINTS.flatMap((endpoint) => endpoint.scopes), STAY_SIGNED_IN])].sort();

export const missingFrom = (granted: readonly string[]): readonly string[] =>
  wantedScopes().filter((scope) => !granted.includes(scope));
