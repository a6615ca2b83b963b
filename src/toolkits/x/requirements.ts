import type { Requirements } from '../../contract/tool.ts';
import type { EndpointId } from './endpoints/ids.ts';
import { ENDPOINTS } from './endpoints/table.ts';

/** What a tool needs that uses these endpoints: X's own scopes, and those that only the tool's document names. */
export const requirementsFor = (
  endpoints: readonly EndpointId[],
  documented: readonly string[] = [],
): Requirements => ({
  xClient: true,
  userAuth: true,
  scopes: [...new Set([...endpoints.flatMap((id) => ENDPOINTS[id].scopes), ...documented])].sort(),
});
