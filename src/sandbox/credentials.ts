import { ALL_ENDPOINTS } from '../toolkits/x/endpoints/table.ts';

/** What a client of the sandbox signs with. Written down here on purpose: they open nothing else. */
export const CREDENTIALS = {
  user_token: 'sandbox-user-token',
  app_token: 'sandbox-app-token',
  consumer_key: 'sandbox-consumer-key',
  consumer_secret: 'sandbox-consumer-secret',
  access_token: 'sandbox-access-token',
  access_token_secret: 'sandbox-access-token-secret',
  client_id: 'sandbox-client-id',
  scopes: [...new Set(ALL_ENDPOINTS.flatMap((endpoint) => endpoint.scopes))].sort().join(' '),
} as const;
