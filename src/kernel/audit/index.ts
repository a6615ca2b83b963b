export { type ArtifactState, ArtifactStore } from './artifacts.ts';
export {
  ENTRY_KINDS,
  type Entry,
  type EntryApproval,
  type EntryArtifact,
  type EntryInput,
  type EntryKind,
  type PreparedEntry,
  prepareEntry,
} from './entry.ts';
export { appendEntries } from './log.ts';
export { type PayloadKind, payloadRow, type SealedPayload, sealPayload } from './payload.ts';
export { isSecretName, redactPrivate, redactSecrets } from './privacy.ts';
