import type { ProviderInfo } from './api.ts';

export const X_API: ProviderInfo = {
  backend: 'x_api',
  mutations_available: true,
  risk_level: 'standard',
  data_confidence: 'high',
  unsupported_methods: [],
  note: 'Official X API via OAuth 2.0.',
};

export const SANDBOX: ProviderInfo = {
  backend: 'sandbox',
  mutations_available: true,
  risk_level: 'none',
  data_confidence: 'simulated',
  unsupported_methods: [],
  note: 'Local sandbox with made-up accounts and posts; nothing reaches X. Run `countersign auth x` to use your account.',
};

/** The library behind it only reads, so allowing changes cannot make any available. */
export const scraperInfo = (allowed: boolean): ProviderInfo => ({
  backend: 'scraper',
  mutations_available: false,
  risk_level: 'elevated',
  data_confidence: 'medium',
  unsupported_methods: ['get_user_mentions', 'get_home_timeline', 'get_me', 'get_bookmarks'],
  note: allowed
    ? 'Scraper backend. Mutations are allowed, but the scraper library offers none.'
    : 'Scraper backend (read-only). Mutations blocked by default.',
});
