import type { Json } from '../lib/json.ts';
import type { Proof } from '../lib/proof.ts';

export interface Call {
  readonly call_id: string;
  readonly at: string;
  readonly tool: string;
  readonly toolkit: string;
  readonly category: string;
  readonly effect: string;
  readonly principal: string;
  readonly client: string | null;
  readonly transport: string;
  readonly run_id: string | null;
  readonly status: string;
  readonly code: string | null;
  readonly decision: string;
  readonly rule: string | null;
  readonly latency_ms: number;
  readonly evidence_hash: string | null;
  readonly approval_id: number | null;
  readonly replay_of: string | null;
}

export interface CallDetail extends Call {
  readonly args: Json;
  readonly result: Json;
  readonly finished_at: string | null;
  readonly proof: Proof | null;
}
