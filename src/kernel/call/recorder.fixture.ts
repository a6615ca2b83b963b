import { uuidv7 } from '../../lib/random.ts';
import { prepareEntry } from '../log/entry.ts';
import { payloadRow, sealPayload } from '../log/log.ts';
import type { CallEvidence } from './recorder.ts';

/** A finished read, as the pipeline hands it to the recorder. */
export function readEvidence(more: Partial<CallEvidence['row']> = {}): CallEvidence {
  const call = more.call_id ?? uuidv7();
  // The ID of a call carries when it started.
  const at = new Date(Number.parseInt(call.replaceAll('-', '').slice(0, 12), 16)).toISOString();
  const args = sealPayload({});
  const result = sealPayload({ status: 'ok', data: {} }, { keep: false });
  const facts = { tool: 'ledger_read', toolkit: 'ledger', effect: 'read', principal: 'agent:local' };
  const entry = prepareEntry({
    kind: 'read',
    at,
    call,
    ...facts,
    transport: 'test',
    digest: 'd',
    status: 'ok',
    decision: 'allow',
    rule: 'default',
    args: args.hash,
    result: result.hash,
  });
  const row = {
    call_id: call,
    parent_id: null,
    started_at: at,
    finished_at: at,
    ...facts,
    category: 'ledger',
    client: null,
    transport: 'test',
    run_id: null,
    digest: 'd',
    status: 'ok',
    code: null,
    decision: 'allow',
    rule: 'default',
    latency_ms: 1,
    evidence_hash: entry.hash,
    approval_id: null,
    approver: null,
    replay_of: null,
    holder_host: null,
    holder_pid: null,
    lease_until: null,
    ...more,
  };
  return {
    row,
    entry,
    payloads: [payloadRow(entry, 'args', args), payloadRow(entry, 'result', result)],
    artifacts: [],
  };
}
