import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ContentPart } from '../../contract/outcome.ts';
import { toolFactory } from '../../contract/tool.ts';
import type { ToolkitHost } from '../../contract/toolkit.ts';
import { homePath } from '../../lib/file-error.ts';
import { ownProcess } from '../../lib/process-identity.ts';
import type { Backend } from './backends/backend.ts';
import { CommandBackend } from './backends/command.ts';
import { ModelBackend } from './backends/model.ts';
import { type AssistantConfig, assistantSection } from './config.ts';
import { type Answer, readFiles } from './runtime/answer.ts';
import { Orders } from './runtime/orders.ts';
import type { PersonaFiles } from './runtime/persona.ts';
import { Slots } from './runtime/worker.ts';
import { Runs } from './sessions/runs.ts';
import { Sessions } from './sessions/sessions.ts';
import type { AssistantTables } from './sessions/tables.ts';
import { Transcript } from './sessions/transcript.ts';
import { Turns, type TurnTimes } from './sessions/turns.ts';

/** What the assistant's tool and views may use. */
export interface AssistantServices {
  readonly config: AssistantConfig;
  readonly orders: Orders;
  readonly sessions: Sessions;
  readonly transcript: Transcript;
  readonly runs: Runs;
  readonly backend: Backend;
  readonly files: PersonaFiles;
  readFiles(answer: Answer): Promise<{ parts: ContentPart[]; notices: string[] }>;
  now(): Date;
}

export const defineAssistantTool = toolFactory<AssistantServices>();

/** How the queue of a session is shared between processes. Tests shorten these. */
export interface Pace extends TurnTimes {
  readonly leaseMs: number;
  /** How long a process that closes lets an order go on. */
  readonly finishMs: number;
}

const PACE: Pace = { leaseMs: 60_000, pollMs: 20, maxPollMs: 500, handoverMs: 5_000, finishMs: 1_500 };

type Host = Pick<ToolkitHost, 'section' | 'db' | 'dataDir' | 'env' | 'kernel' | 'log' | 'now'>;

export function openServices(host: Host, pace: Pace = PACE): AssistantServices {
  const config = host.section(assistantSection);
  const db = host.db<AssistantTables>();
  const now = () => host.now();
  const owner = `${ownProcess()}:${randomUUID()}`;
  const changed = (session: string): void => {
    host.kernel.events.publish('assistant.changed', { session }).catch((error: unknown) => {
      host.log.debug('open pages could not be notified of an order', { error: String(error) });
    });
  };
  const sessions = new Sessions(db, now, changed);
  const runs = new Runs(db, { now, owner, leaseMs: pace.leaseMs, changed });
  const transcript = new Transcript(db, { now, owner, changed });
  const turns = new Turns(runs, transcript, pace, now);
  const folder = join(host.dataDir, 'assistant');
  const files: PersonaFiles = {
    persona: homePath(config.persona_file ?? join(folder, 'persona.md')),
    memory: homePath(config.memory_file ?? join(folder, 'memory.md')),
  };
  const { env, kernel, log } = host;
  const backend =
    config.backend === 'command'
      ? new CommandBackend({ config, env, transcript, workDir: join(folder, 'workspace') })
      : new ModelBackend({ config, env, kernel, transcript, files, now });
  const slots = new Slots(config.max_concurrent);
  const { artifacts } = kernel;
  const orders = new Orders({
    config,
    backend,
    sessions,
    runs,
    transcript,
    turns,
    slots,
    artifacts,
    log,
    now,
    finishMs: pace.finishMs,
  });
  return {
    config,
    orders,
    sessions,
    transcript,
    runs,
    backend,
    files,
    now,
    readFiles: (answer) => readFiles(answer, artifacts),
  };
}
