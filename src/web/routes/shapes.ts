import type { OutcomeData } from '../../contract/outcome.ts';
import type { PasskeyMode } from '../../contract/passkeys.ts';

// What only the web app shows. What commands show too is in kernel/views.

/** Who is signed in and how the server stands. */
export interface Session {
  readonly person: string;
  readonly csrf: string;
  readonly version: string;
  /** The enabled toolkits, in the order the navigation shows them. */
  readonly toolkits: readonly { readonly id: string; readonly title: string }[];
  readonly profile: string;
  readonly mode: string;
  readonly approval_mode: boolean;
  /** How long the server holds a live call before it runs; 0: not at all. */
  readonly hold_seconds: number;
  readonly paused: boolean;
  /** This store was never used. */
  readonly unused: boolean;
}

/** What to paste into the configuration of these clients. */
export interface Snippet {
  readonly clients: readonly { readonly name: string; readonly title: string }[];
  readonly text: string;
}

/** New approvals, as a notification may speak of them. */
export interface News {
  readonly latest: number;
  readonly notices: readonly { readonly id: number; readonly title: string; readonly requester: string }[];
}

/** The outcome of a call, with what a person can do about it. */
export type ShownOutcome = OutcomeData & { readonly hint?: string };

export type ToolResult = ShownOutcome & { readonly call_id: string };

/** What the server wants signed, and by which keys. */
export interface ToSign {
  readonly nonce: string;
  readonly challenge: string;
  readonly allow: readonly string[];
  readonly rp_id: string;
  /** Whose keys these are, where a decision is signed. */
  readonly person?: string;
}

export interface SignedResult {
  readonly id: number;
  readonly version: number;
  readonly state: string;
  readonly required: number;
  readonly signed: readonly string[];
  readonly result: ShownOutcome | null;
}

export interface Passkey {
  readonly fingerprint: string;
  readonly person: string;
  readonly name: string;
  readonly enrolled_at: string;
  readonly rp_id: string;
  readonly origins: readonly string[];
  readonly countersigned_by: string | null;
}

/** Whether passkeys work on the page a request came from: browsers tie each key to a name, and refuse bare addresses. */
export type PasskeyPage =
  | { readonly usable: true; readonly origin: string; readonly rpId: string }
  | { readonly usable: false; readonly origin: string; readonly instead: string };

export interface PasskeyData {
  readonly keys: readonly Passkey[];
  readonly mode: PasskeyMode;
  readonly configured: PasskeyMode;
  readonly resets: readonly { readonly at: string; readonly by: string; readonly removed: number }[];
  readonly person: string;
  /** Whether a key can be made and used on this page, and where otherwise. */
  readonly page: PasskeyPage;
}
