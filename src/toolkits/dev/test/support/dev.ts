import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openStorage } from '../../../../app/open-storage.ts';
import type { JsonObject, JsonValue } from '../../../../contract/json.ts';
import type { ArtifactRef, Outcome } from '../../../../contract/outcome.ts';
import { LOCAL_AGENT, type Principal } from '../../../../contract/principal.ts';
import type { Tool, ToolContext } from '../../../../contract/tool.ts';
import type { ToolkitHost } from '../../../../contract/toolkit.ts';
import { uuidv7 } from '../../../../lib/random.ts';
import { dev } from '../../config.ts';
import { connectDev, type DevServices } from '../../services.ts';
import { toolkit } from '../../toolkit.ts';

/** Git as a person at the keyboard would run it, apart from this machine's own configuration. */
export function git(cwd: string, ...args: string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const identity = [
    '-c',
    'user.name=Ada',
    '-c',
    'user.email=ada@example.org',
    '-c',
    'init.defaultBranch=main',
  ];
  return execFileSync('git', [...identity, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    .toString()
    .trim();
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A repository with one commit on `main`. */
export function makeRepo(
  folder: string,
  files: Readonly<Record<string, string>> = { 'README.md': 'hello\n' },
): string {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '-q', '-b', 'main');
  writeFiles(folder, files);
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'first');
  return folder;
}

export function tempFolder(): string {
  return mkdtempSync(join(tmpdir(), 'countersign-dev-'));
}

/** Everything git keeps that a person would notice: files, index, current branch, refs, worktrees. */
export function snapshot(repo: string): string {
  return [
    git(repo, 'status', '--porcelain=v2', '--branch', '--untracked-files=all'),
    git(repo, 'for-each-ref'),
    git(repo, 'worktree', 'list', '--porcelain'),
    git(repo, 'ls-files', '--stage'),
  ].join('\n');
}

export interface Called {
  readonly data: JsonValue;
  readonly notes: JsonObject;
  readonly evidence: JsonObject;
  readonly artifacts: readonly { readonly name: string; readonly id: string; readonly text: string }[];
  readonly progress: readonly string[];
}

export interface CallOptions {
  readonly callId?: string;
  readonly principal?: Principal;
  readonly approvedBy?: Principal;
  readonly signal?: AbortSignal;
  /** Answers the inner calls of a batch; the default runs the tool. */
  readonly inner?: (tool: string, args: JsonObject, run: () => Promise<Outcome>) => Promise<Outcome>;
  readonly onProgress?: (message: string) => void;
}

export interface DevWorld {
  readonly folder: string;
  readonly services: DevServices;
  tool(name: string): Tool<DevServices>;
  /** Checks and runs a tool as the kernel would, without policy. */
  call(name: string, args: JsonObject, options?: CallOptions): Promise<Called>;
  preview(name: string, args: JsonObject): Promise<Called>;
  reconcile(
    name: string,
    args: JsonObject,
    callId: string,
    startedAt?: Date,
  ): ReturnType<NonNullable<Tool['reconcile']>>;
  run(repo: string): Promise<string>;
  view(name: string, params?: JsonObject): Promise<JsonValue>;
  /** Leaves the folder for the next one that opens it. */
  closeStore(): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly cwd: string;
  readonly config?: JsonObject;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly storageUrl?: string;
  readonly folder?: string;
  readonly warnings?: string[];
  /** How long the double may take to carry out what it did not answer. */
  readonly commitWindowMs?: number;
}

/** The toolkit on a store of its own, with a literal host. */
export async function openWorld(options: WorldOptions): Promise<DevWorld> {
  const folder = options.folder ?? tempFolder();
  const database = await openStorage({ url: options.storageUrl ?? ':memory:' });
  const settings = dev.schema.parse(options.config ?? {});
  const log = {
    debug: () => {},
    info: () => {},
    warn: (text: string) => options.warnings?.push(text),
    error: () => {},
  };
  const host = {
    section: () => settings,
    mode: 'autopilot',
    approvalMode: false,
    dataDir: join(folder, 'data'),
    engine: database.engine,
    db: () => database.db,
    log,
    env: options.env ?? { PATH: process.env.PATH, HOME: process.env.HOME },
    now: () => new Date(),
  } as unknown as ToolkitHost;
  const services = await connectDev(host, {
    cwd: options.cwd,
    client: { pace: false, retryBaseMs: 1, commitWindowMs: options.commitWindowMs ?? 0 },
  });
  const find = (name: string): Tool<DevServices> => {
    const found = toolkit.tools.find((tool) => tool.name === name);
    if (!found) throw new Error(`No tool ${name}.`);
    return found;
  };

  const prepare = async (name: string, raw: JsonObject) => {
    const tool = find(name);
    const parsed = tool.input.parse(raw);
    if (!parsed.ok) throw new Error(`invalid_input: ${JSON.stringify(parsed.issues)}`);
    const args = parsed.value as JsonObject;
    await tool.check?.(args, services);
    return { tool, args };
  };

  const invoke = async (
    name: string,
    raw: JsonObject,
    how: 'run' | 'preview',
    given: CallOptions,
  ): Promise<Called> => {
    const { tool, args } = await prepare(name, raw);
    const artifacts: { name: string; id: string; text: string }[] = [];
    const progress: string[] = [];
    let notes: JsonObject = {};
    const evidence: JsonObject = {};
    const context: ToolContext<DevServices> = {
      services,
      callId: given.callId ?? uuidv7(),
      principal: given.principal ?? LOCAL_AGENT,
      decider: undefined,
      approval: {
        id: 1,
        uuid: 'approval-1',
        digest: '',
        approver: given.approvedBy,
        binding: how === 'run' ? await tool.bind?.(args, services) : undefined,
      },
      signal: given.signal ?? new AbortController().signal,
      now: () => new Date(),
      progress(message) {
        progress.push(message);
        given.onProgress?.(message);
      },
      async artifact(artifactName, mediaType, body): Promise<ArtifactRef> {
        const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
        const id = `sha256:${artifacts.length}-${artifactName}`;
        artifacts.push({ name: artifactName, id, text });
        return { id, name: artifactName, mediaType, size: text.length };
      },
      evidence(more) {
        Object.assign(evidence, more);
      },
      note(more) {
        notes = { ...notes, ...more };
      },
      attach: () => {},
      async call(innerName, innerArgs) {
        const run = async (): Promise<Outcome> => {
          const { data } = await invoke(innerName, innerArgs, 'run', { ...given, callId: undefined });
          return { status: 'ok', data, notes: {}, replayed: false };
        };
        return given.inner ? given.inner(innerName, innerArgs, run) : run();
      },
    };
    const data = how === 'run' ? await tool.run(args, context) : await tool.preview?.(args, context);
    const checked = tool.output.parse(data);
    if (!checked.ok)
      throw new Error(`${name} broke its own output schema: ${JSON.stringify(checked.issues)}`);
    // As it travels: anything is not JSON shows up here.
    return { data: JSON.parse(JSON.stringify(data)) as JsonValue, notes, evidence, artifacts, progress };
  };

  return {
    folder,
    services,
    tool: find,
    call: (name, args, given = {}) => invoke(name, args, 'run', given),
    preview: (name, args) => invoke(name, args, 'preview', {}),
    async reconcile(name, args, callId, startedAt = new Date(Date.now() - 60_000)) {
      const tool = find(name);
      const context = { services, callId, startedAt, signal: AbortSignal.timeout(30_000) };
      if (!tool.reconcile) throw new Error(`${name} cannot reconcile.`);
      return tool.reconcile(args, context);
    },
    async run(repo) {
      const { data } = await invoke('runs_create', { repo, purpose: 'test' }, 'run', {});
      return (data as { run_id: string }).run_id;
    },
    async view(name, params = {}) {
      const found = toolkit.views?.[name];
      if (!found) throw new Error(`No view ${name}.`);
      return found(params, { services, person: { kind: 'person', id: 'ada' } });
    },
    closeStore: () => database.close(),
    async close() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
