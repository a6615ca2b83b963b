import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import type { Kysely } from 'kysely';
import type { JsonObject } from '../../../../contract/json.ts';
import type { ContentPart, Outcome } from '../../../../contract/outcome.ts';
import type { KernelPorts, Log } from '../../../../contract/ports.ts';
import { LOCAL_AGENT, type Principal } from '../../../../contract/principal.ts';
import type { ToolkitHost } from '../../../../contract/toolkit.ts';
import { openPostgres } from '../../../../storage/postgres.ts';
import { openSqlite } from '../../../../storage/sqlite.ts';
import { assistantSection } from '../../config.ts';
import { migration } from '../../migrations/040-assistant.ts';
import { type AssistantServices, openServices, type Pace } from '../../services.ts';
import type { AssistantTables } from '../../sessions/tables.ts';
import { orderClawdbot } from '../../tools/order-clawdbot.ts';

export interface OrderResult {
  readonly text: string;
  readonly sessionKey: string;
  readonly model: string;
  readonly steps: number;
  readonly usage: { inputTokens: number; outputTokens: number; costUsd: number | null };
  readonly pendingApprovals: readonly { approvalId: number; tool: string; reason: string }[];
  readonly notices: readonly string[];
  readonly storedAt: string | null;
}

export interface KernelTool {
  readonly name: string;
  readonly effect: string;
  readonly toolkit?: string;
  readonly summary?: string;
  answer(args: JsonObject): Outcome | Promise<Outcome>;
}

export interface Invocation {
  readonly tool: string;
  readonly args: JsonObject;
  readonly principal: Principal;
  readonly idempotencyKey: string | undefined;
}

export interface AssistantOptions {
  readonly store: TestAssistantStore;
  /**
   * A handle to share. Two handles on one SQLite file in one process must not write simultaneously: each waits for
   * the other.
   */
  readonly db?: Kysely<AssistantTables>;
  readonly config: JsonObject;
  readonly tools?: readonly KernelTool[];
  readonly env?: Record<string, string>;
  readonly pace?: Partial<Pace>;
  readonly log?: Log;
}

export interface Published {
  readonly topic: string;
  readonly data: JsonObject;
}

export interface TestAssistant {
  readonly services: AssistantServices;
  readonly invocations: Invocation[];
  readonly progress: string[];
  /** What open pages received. */
  readonly events: Published[];
  readonly attached: ContentPart[];
  /** Calls order_clawdbot as the pipeline would. */
  order(message: string, options?: OrderOptions): Promise<OrderResult>;
  close(): Promise<void>;
}

export interface OrderOptions {
  readonly sessionKey?: string;
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
  readonly callId?: string;
}

export interface TestAssistantStore {
  readonly dir: string;
  readonly engine: 'sqlite' | 'postgres';
  /** Another handle on the same store, as another process would have. */
  open(): Kysely<AssistantTables>;
  close(): Promise<void>;
}

const PACE: Pace = { leaseMs: 30_000, pollMs: 5, maxPollMs: 50, handoverMs: 200, finishMs: 0 };

/** A store in a folder of its own, or in that PostgreSQL database; with `existing`, the one a parent process made. */
export async function openAssistantStore(
  postgresUrl?: string,
  existing?: string,
): Promise<TestAssistantStore> {
  const dir = existing ?? mkdtempSync(join(tmpdir(), 'countersign-assistant-'));
  const handles: Kysely<AssistantTables>[] = [];
  const open = () => {
    const db = postgresUrl
      ? openPostgres<AssistantTables>(postgresUrl)
      : openSqlite<AssistantTables>(join(dir, 'store.db')).db;
    handles.push(db);
    return db;
  };
  const engine = postgresUrl === undefined ? 'sqlite' : 'postgres';
  if (existing === undefined) await migration.up(open() as unknown as Kysely<unknown>, engine);
  return {
    dir,
    engine,
    open,
    async close() {
      for (const db of handles) await db.destroy();
      if (existing === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** One process with the assistant in it; its kernel answers with the outcomes the test gives. */
export function openAssistant(options: AssistantOptions): TestAssistant {
  const { store, tools = [] } = options;
  const invocations: Invocation[] = [];
  const progress: string[] = [];
  const events: Published[] = [];
  const attached: ContentPart[] = [];
  const artifacts = new Map<string, Uint8Array>();
  const db = options.db ?? store.open();
  const kernel = {
    tools: () =>
      tools.map(({ name, effect, toolkit = 'x', summary = name }) => ({
        name,
        effect,
        toolkit,
        summary,
        inputJson: { type: 'object', properties: {}, additionalProperties: true },
      })),
    async invoke(name: string, args: JsonObject, principal: Principal, how?: { idempotencyKey?: string }) {
      invocations.push({ tool: name, args, principal, idempotencyKey: how?.idempotencyKey });
      const tool = tools.find((one) => one.name === name);
      if (!tool) throw new Error(`The test has no tool ${name}.`);
      return tool.answer(args);
    },
    events: {
      async publish(topic: string, data: JsonObject) {
        events.push({ topic, data });
        return { listeners: 0 };
      },
    },
    artifacts: {
      async read(id: string) {
        return artifacts.get(id);
      },
      async write(_name: string, _type: string, body: string | Uint8Array) {
        const id = `sha256:${artifacts.size}`;
        artifacts.set(id, Buffer.from(body));
        return { id, size: body.length };
      },
    },
  } as unknown as KernelPorts;
  const section = assistantSection.schema.parse(options.config);
  const host = {
    section: () => section,
    db: () => db,
    dataDir: store.dir,
    env: options.env ?? {},
    kernel,
    log: options.log ?? silentLog,
    now: () => new Date(),
  } as unknown as ToolkitHost;
  const services = openServices(host, { ...PACE, ...options.pace });
  return {
    services,
    invocations,
    progress,
    events,
    attached,
    async order(message, { sessionKey, principal = LOCAL_AGENT, signal, callId } = {}) {
      const args = { message, ...(sessionKey === undefined ? {} : { sessionKey }) };
      await orderClawdbot.check?.(args, services);
      const data = await orderClawdbot.run(args, {
        services,
        callId: callId ?? crypto.randomUUID(),
        principal,
        decider: undefined,
        approval: undefined,
        signal: signal ?? new AbortController().signal,
        now: () => new Date(),
        progress: (text) => progress.push(text),
        artifact: () => Promise.reject(new Error('The assistant stores files through the kernel.')),
        note: () => {},
        evidence: () => {},
        attach: (part) => attached.push(part),
        call: () => Promise.reject(new Error('The assistant calls tools as its own principal.')),
      });
      const parsed = orderClawdbot.output.parse(data);
      if (!parsed.ok) throw new Error(`The data does not fit the schema: ${JSON.stringify(parsed.issues)}`);
      return data as unknown as OrderResult;
    },
    async close() {
      await services.orders.close();
    },
  };
}

const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

export async function startModel(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  await mock.start();
  return mock;
}

export const FORMS = ['openai-chat', 'openai-responses', 'anthropic', 'compatible'] as const;
export type Form = (typeof FORMS)[number];

/** Configuration for a model behind the mock, in one of the forms that providers speak. */
export function modelConfig(mock: LLMock, form: Form, more: JsonObject = {}): JsonObject {
  const base_url = `${mock.url}/v1`;
  const api_key = 'sk-test';
  const providers: Record<Form, JsonObject> = {
    'openai-chat': { kind: 'openai', base_url, api_key, api: 'chat' },
    'openai-responses': { kind: 'openai', base_url, api_key, api: 'responses' },
    anthropic: { kind: 'anthropic', base_url, api_key },
    compatible: { kind: 'openai-compatible', base_url, api_key },
  };
  return { model: 'mock/one', providers: { mock: providers[form] }, retries: 0, ...more };
}

export const ok = (data: JsonObject): Outcome => ({ status: 'ok', data, notes: {}, replayed: false });
