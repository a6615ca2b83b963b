import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  execFileSync,
  spawn,
} from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { LineTransport } from '../../src/transports/stdio.ts';

const MAIN = resolve(process.env.TEST_DIST ?? 'dist', 'main.js');

/** A data directory of its own with the built command line on it. */
export interface Home {
  readonly dir: string;
  /** The built command line. */
  readonly main: string;
  cli(...args: string[]): string;
  /** Output of a command that fails. */
  failing(...args: string[]): { status: number; stdout: string; stderr: string };
  close(): void;
}

export function createHome(config = '', main = MAIN): Home {
  if (!existsSync(main)) throw new Error('There is no build; run `npm run build` first.');
  const dir = mkdtempSync(join(tmpdir(), 'countersign-e2e-'));
  writeFileSync(join(dir, 'config.toml'), config);
  const env = environment(dir);
  return {
    dir,
    main,
    cli: (...args) =>
      execFileSync(process.execPath, [main, ...args], {
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    failing(...args) {
      try {
        const stdout = execFileSync(process.execPath, [main, ...args], {
          env,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        return { status: 0, stdout, stderr: '' };
      } catch (error) {
        const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
        return { status, stdout, stderr };
      }
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

const environment = (dir: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: dir,
  COUNTERSIGN_HOME: dir,
  COUNTERSIGN_LOG__LEVEL: 'warn',
  // Tests decide at the command line, and have no terminal.
  COUNTERSIGN_APPROVALS__WITHOUT_TERMINAL: 'true',
});

/** The built command as a process of its own, with all three streams in the test's hands. */
export function spawnCli(
  home: Home,
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcessWithoutNullStreams {
  const { command, ...started } = cliCommand(home, args, env);
  return spawn(command, started.args, { env: started.env, stdio: 'pipe' });
}

/** How a client starts the built command. */
export const cliCommand = (home: Home, args: readonly string[], env: Record<string, string> = {}) => ({
  command: process.execPath,
  args: [home.main, ...args],
  env: { ...environment(home.dir), ...env },
});

export const TRANSPORTS = ['stdio', 'http', 'tcp'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

export interface Session {
  readonly client: Client;
  close(): Promise<void>;
}

export interface Server {
  readonly url: string;
  readonly tcpPort: number;
  connect(transport: TransportName, options?: ClientOptions & { token?: string }): Promise<Session>;
  stop(): Promise<void>;
  /** Ends it with a signal; its exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | string | null>;
  /** As a power cut would: nothing is written any more. */
  kill(): void;
}

/** `countersign up` on free ports, as a person would start it. */
export async function startUp(home: Home, ...args: string[]): Promise<Server> {
  const env = { ...environment(home.dir), TOOLHUB_MCP_LISTEN: '127.0.0.1:0' };
  const child = spawn(process.execPath, [home.main, 'up', '--port', '0', ...args], {
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const text = await outputUntil(child, /TCP at .*:(\d+)/);
  const port = /running at http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
  const tcpPort = Number(/TCP at .*:(\d+)/.exec(text)?.[1]);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    tcpPort,
    async connect(transport, options) {
      if (transport === 'http') {
        const headers = options?.token ? { authorization: `Bearer ${options.token}` } : undefined;
        return open(
          new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
          options,
        );
      }
      if (transport === 'stdio') return connectStdio(home, args, options);
      const socket = connect(tcpPort, '127.0.0.1');
      const session = await open(new LineTransport(socket, socket) as unknown as Transport, options);
      return { client: session.client, close: async () => void socket.destroy() };
    },
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) await end(child, 'SIGTERM');
    },
    end: (signal) => end(child, signal),
  };
}

const end = (child: ChildProcess, signal: NodeJS.Signals): Promise<number | string | null> =>
  new Promise((resolve) => {
    child.once('close', (code, by) => resolve(by ?? code));
    child.kill(signal);
  });

export function connectStdio(
  home: Home,
  args: readonly string[] = [],
  options: ClientOptions & { token?: string; env?: Record<string, string> } = {},
): Promise<Session> {
  const token: Record<string, string> = options.token ? { COUNTERSIGN_TOKEN: options.token } : {};
  const env = { ...environment(home.dir), ...token, ...options.env };
  return open(
    new StdioClientTransport({
      command: process.execPath,
      args: [home.main, 'mcp', 'serve', ...args],
      env,
      stderr: 'inherit',
    }),
    options,
  );
}

async function open(transport: Transport, options: ClientOptions = {}): Promise<Session> {
  const client = new Client({ name: 'e2e', version: '1.0.0' }, options);
  await client.connect(transport);
  return { client, close: () => client.close() };
}

function outputUntil(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (pattern.test(text)) resolve(text);
    });
    child.once('close', (code) => reject(new Error(`It ended with ${code}:\n${text}`)));
  });
}
