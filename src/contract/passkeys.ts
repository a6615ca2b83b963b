/** COSE numbers of the signatures that are accepted: ES256, EdDSA and RS256. */
export const ALGORITHMS = [-7, -8, -257] as const;

/** How much is signed: nothing, what destroys, or every approval. */
export const PASSKEY_MODES = ['off', 'destructive', 'always'] as const;
export type PasskeyMode = (typeof PASSKEY_MODES)[number];
