import type { JsonObject } from '../../../contract/json.ts';
import type { ViewData } from '../../../contract/view.ts';
import type { Meter } from '../runtime/meter.ts';
import type { Run } from '../sessions/runs.ts';
import type { Session } from '../sessions/sessions.ts';
import type { views } from '../views.ts';

/** One order whose turn has come. */
export interface Turn {
  readonly session: Session;
  readonly run: Run;
  /** Its work had begun in a process that died: go on from its transcript. */
  readonly resume: boolean;
  readonly signal: AbortSignal;
  readonly meter: Meter;
  /** What is being done, in a few words, for a waiting caller. */
  report(doing: string): void;
}

export interface ReplyFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A call of the assistant that waits for a person. */
export interface Pending {
  readonly approvalId: number;
  readonly tool: string;
  readonly reason: string;
}

export interface Reply {
  /** What was said on the way, then what was said last. */
  readonly intermediate: readonly string[];
  readonly final: string;
  readonly files: readonly ReplyFile[];
  readonly pending: readonly Pending[];
  /** What the caller should know about the answer, such as that it was cut. */
  readonly notices: readonly string[];
  readonly model: string;
}

export interface Backend {
  /** May another process go on with work that was cut short? */
  readonly resumable: boolean;
  readonly windowTokens: number;
  run(turn: Turn): Promise<Reply>;
  /** Throws the fault an order would meet before any work is done. */
  check(): Promise<void>;
  /** What is configured, without secrets. */
  describe(): Pick<ViewData<typeof views.status>, 'backend' | 'model' | 'fallbacks' | 'program'>;
  /** Really asks: a model request, or a look for the program. */
  ping(signal: AbortSignal): Promise<JsonObject>;
}
