import type { Mode } from './mode-choice.tsx';

export interface Key {
  readonly fingerprint: string;
  readonly person: string;
  readonly name: string;
  readonly enrolled_at: string;
  readonly origins: readonly string[];
  readonly countersigned_by: string | null;
}

export interface PasskeyData {
  readonly keys: readonly Key[];
  readonly mode: Mode;
  readonly configured: Mode;
  readonly resets: readonly { readonly at: string; readonly by: string; readonly removed: number }[];
  readonly person: string;
  readonly page:
    | { readonly usable: true; readonly origin: string; readonly rpId: string }
    | { readonly usable: false; readonly origin: string; readonly instead: string };
}

/** Grouped in fours, as people compare them. */
export const readable = (fingerprint: string): string =>
  fingerprint.match(/.{1,4}/g)?.join(' ') ?? fingerprint;
