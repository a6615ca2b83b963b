export const PROFILES = ['readonly', 'api-readonly', 'write', 'admin'] as const;
export type Profile = (typeof PROFILES)[number];

export const READ_PROFILES: readonly Profile[] = [...PROFILES];
export const CHANGE_PROFILES: readonly Profile[] = ['write', 'admin'];
