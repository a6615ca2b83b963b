import type { AuditPort } from '../../contract/ports.ts';
import type { Database } from '../store/database.ts';
import { collectProof } from './proof/prove.ts';
import { findShownDifferences } from './rows/find.ts';
import { latestCheckpoint } from './signing/checkpoint.ts';
import type { CheckpointWriter } from './signing/checkpoint-writer.ts';

/** `flush` makes the evidence of reads durable, which is committed in groups a moment after the reply. */
export function createAuditPort(
  database: Database,
  checkpoints: CheckpointWriter,
  flush: () => Promise<void>,
): AuditPort {
  return {
    async proof(callId) {
      await flush();
      return collectProof(database, await checkpoints.signer(), callId, checkpoints.now);
    },
    async differences(callId) {
      await flush();
      return (await findShownDifferences(database, [callId], ['args', 'result'])).get(callId) ?? [];
    },
    async checkpoint() {
      return (await latestCheckpoint(database))?.note;
    },
  };
}
