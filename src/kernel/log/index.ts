export type { ProofFile } from '../../contract/ports.ts';
export { type ArtifactState, ArtifactStore } from './artifacts.ts';
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
export { appendEntries, type PayloadKind, payloadRow, type SealedPayload, sealPayload } from './log.ts';
export { type CheckOptions, type CheckReport, checkProof } from './proof/check.ts';
export { checkBundle } from './proof/check-bundle.ts';
export { type Bundle, type ExportContext, exportRun } from './proof/export.ts';
export { isReceipt } from './proof/receipt.ts';
export { type StoredCheckpoint, writeCheckpoint } from './signing/checkpoint.ts';
export type { CheckpointWriterOptions } from './signing/checkpoint-writer.ts';
export { Signer, signingKeys } from './signing/signer.ts';
export type { Problem, VerifyReport } from './verify/report.ts';
export type { VerifyOptions } from './verify/verify.ts';
