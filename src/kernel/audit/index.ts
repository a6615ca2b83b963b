export { type ArtifactState, ArtifactStore } from './artifacts.ts';
export { type CheckOptions, type CheckReport, checkProof } from './check.ts';
export { checkBundle } from './check-bundle.ts';
export { type StoredCheckpoint, writeCheckpoint } from './checkpoint.ts';
export type { CheckpointWriterOptions } from './checkpoint-writer.ts';
export {
  type Entry,
  type EntryApproval,
  type EntryArtifact,
  type EntryInput,
  type EntryKind,
  type PreparedEntry,
  prepareEntry,
} from './entry.ts';
export { type Erasure, type ErasureContext, type ErasureScope, erasePayloads } from './erase.ts';
export { type Bundle, type ExportContext, exportRun } from './export.ts';
export { appendEntries } from './log.ts';
export { type PayloadKind, payloadRow, type SealedPayload, sealPayload } from './payload.ts';
export type { ProofFile } from './prove.ts';
export { Signer, signingKeys } from './signer.ts';
export type { Problem, VerifyReport } from './verify/report.ts';
export type { VerifyOptions } from './verify.ts';
