import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { App } from '../../app.ts';
import { openApp, readConfig } from '../../app.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/error.ts';
import { VERSION } from '../../lib/version.ts';
import { createServed } from '../../serving.ts';
import { isPostgresUrl, StoreError } from '../../storage/store-error.ts';
import { dev } from '../../toolkits/dev/config.ts';
import { bwrapWorks } from '../../toolkits/dev/qa/sandbox.ts';
import { assistantLine, assistantState } from '../assistant-state.ts';
import type { GlobalOptions } from '../context.ts';
import { print, printJson } from '../output.ts';
import { outdatedServer, runningServer } from '../running-server.ts';

interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix?: string;
}

const MIN_NODE = [20, 19] as const;

/** Tries everything a session needs, and says for each fault what to do. Exit code 1 when something is broken. */
export async function doctor(global: GlobalOptions): Promise<void> {
  const findings: Finding[] = [checkNode()];
  const options = { configPath: global.config, env: process.env, flags: { 'log.level': 'silent' } };
  let app: App | undefined;
  try {
    const config = readConfig(options);
    findings.push({
      check: 'configuration',
      status: 'ok',
      detail: existsSync(config.path) ? config.path : `defaults (no ${config.path})`,
    });
    const opened = await openApp(options).catch((error: unknown) => {
      if (error instanceof StoreError) return error;
      throw error;
    });
    if (opened instanceof StoreError) findings.push(...(await checkWithoutStore(config, opened)));
    else {
      app = opened;
      findings.push(...(await checkApp(app)));
    }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    findings.push({
      check: error instanceof ConfigError ? 'configuration' : 'start',
      status: 'fail',
      detail,
      fix: 'Mend what the message names, then run doctor again.',
    });
  } finally {
    await app?.close();
  }
  if (findings.some(({ status }) => status === 'fail')) process.exitCode = 1;
  if (global.json) return printJson({ version: VERSION, findings });
  const sign = { ok: '✓', warn: '!', fail: '✗' } as const;
  for (const { check, status, detail, fix } of findings) {
    print(`${sign[status]} ${check.padEnd(14)} ${detail}`);
    if (fix) print(`  ${''.padEnd(14)} → ${fix}`);
  }
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  return {
    check: 'node',
    status: ok ? 'ok' : 'fail',
    detail: process.version,
    ...(ok ? {} : { fix: `Install Node ${MIN_NODE.join('.')} or newer.` }),
  };
}

async function checkApp(app: App): Promise<Finding[]> {
  return [
    await checkStore(app),
    checkPermissions(app.config),
    await checkClock(app),
    await checkHandshake(app),
    ...(await checkServer(app)),
    await checkUnsettled(app),
    ...(await checkAssistant(app)),
    ...(await checkQa(app.config)),
  ];
}

/** Why there is no store is one finding; what needs none is looked at all the same. */
async function checkWithoutStore(config: Config, { message }: StoreError): Promise<Finding[]> {
  return [
    {
      check: 'store',
      status: 'fail',
      detail: message,
      fix: 'Mend the store, then run doctor again: clock, MCP and what else needs it were not checked.',
    },
    checkPermissions(config),
    await checkPort(config),
    ...(await checkQa(config)),
  ];
}

async function checkStore({ database, ports }: App): Promise<Finding> {
  const health = await ports.health.check();
  if (health.status !== 'ok')
    return {
      check: 'store',
      status: 'fail',
      detail: JSON.stringify(health.database),
      fix: 'Check [storage] url and the disk.',
    };
  return {
    check: 'store',
    status: 'ok',
    detail: `${database.engine}, ${health.evidence_entries} log entries`,
  };
}

function checkPermissions(config: Config): Finding {
  const check = 'permissions';
  const files = [
    config.path,
    ...(isPostgresUrl(config.storageUrl) ? [] : [config.storageUrl]),
    join(config.dataDir, 'audit-key.pem'),
  ];
  const open = files.filter((file) => existsSync(file) && (statSync(file).mode & 0o077) !== 0);
  if (open.length > 0 && process.platform !== 'win32') {
    return {
      check,
      status: 'warn',
      detail: `others can read ${open.join(', ')}`,
      fix: `chmod 600 ${open.join(' ')}`,
    };
  }
  try {
    accessSync(config.dataDir, constants.W_OK);
    return { check, status: 'ok', detail: `${config.dataDir} is writable and private` };
  } catch {
    return {
      check,
      status: 'fail',
      detail: `${config.dataDir} is not writable`,
      fix: 'Set COUNTERSIGN_HOME to a folder you own.',
    };
  }
}

/** A clock that stands before the newest evidence was set back; limits and expiry would go wrong. */
async function checkClock({ database, now }: App): Promise<Finding> {
  const last = await database.db
    .selectFrom('audit_log')
    .select('at')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last && last.at > new Date(now().getTime() + 60_000).toISOString()) {
    return {
      check: 'clock',
      status: 'warn',
      detail: `the newest log entry (${last.at}) is in the future`,
      fix: 'Set the clock of this machine.',
    };
  }
  return { check: 'clock', status: 'ok', detail: now().toISOString() };
}

/** A real handshake, listing and call over a real socket. */
async function checkHandshake(app: App): Promise<Finding> {
  const check = 'MCP';
  try {
    const { serveOnHttp } = await import('../../transports/http.ts');
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { toolkits, profile } = app.config;
    const served = await createServed(app, { toolkits, profile, discovery: false });
    const listening = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
    const started = performance.now();
    const client = new Client({ name: 'countersign-doctor', version: VERSION });
    try {
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${listening.port}/mcp`)),
      );
      const { tools } = await client.listTools();
      return {
        check,
        status: 'ok',
        detail: `handshake and ${tools.length} tools in ${Math.round(performance.now() - started)} ms`,
      };
    } finally {
      await client.close();
      await listening.close();
    }
  } catch (error) {
    return {
      check,
      status: 'fail',
      detail: error instanceof Error ? error.message : String(error),
      fix: 'Run with --verbose and report it.',
    };
  }
}

async function checkPort(config: Config): Promise<Finding> {
  const { host, port } = config.server;
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
  if (free) return { check: 'port', status: 'ok', detail: `${host}:${port} is free for \`countersign up\`` };
  const ours = await fetch(`http://${host}:${port}/`, {
    signal: AbortSignal.timeout(1000),
    headers: { accept: 'application/json' },
  })
    .then((response) => response.json())
    .then(
      (info: unknown) =>
        typeof info === 'object' && info !== null && 'name' in info && info.name === 'countersign',
    )
    .catch(() => false);
  if (ours) return { check: 'port', status: 'ok', detail: `countersign up answers on ${host}:${port}` };
  return {
    check: 'port',
    status: 'warn',
    detail: `${host}:${port} is used by another program`,
    fix: 'Set [server] port, or stop the other program.',
  };
}

/** The port matters as long as no server runs; the one that runs may have been given another by a flag. */
async function checkServer(app: App): Promise<Finding[]> {
  const url = await runningServer(app);
  if (url === undefined) return [await checkPort(app.config)];
  const outdated = await outdatedServer(app);
  return [
    { check: 'port', status: 'ok', detail: `countersign up answers on ${new URL(url).host}` },
    ...(outdated ? [{ check: 'server', status: 'warn', detail: outdated } as const] : []),
  ];
}

async function checkUnsettled({ kernel }: App): Promise<Finding> {
  const { open } = await kernel.recover();
  if (open === 0) return { check: 'unsettled', status: 'ok', detail: 'every change has a known outcome' };
  return {
    check: 'unsettled',
    status: 'warn',
    detail: `${open} changes may or may not have happened`,
    fix: '`countersign status` lists them.',
  };
}

/** Not set up is no fault: people may use the other toolkits alone. Set up and not answering is one. */
async function checkAssistant(app: App): Promise<Finding[]> {
  const state = await assistantState(app, true);
  if (!state) return [];
  const { backend, configured, problem } = state;
  const found = { check: 'assistant', detail: assistantLine(state) };
  if (!problem) return [{ ...found, status: 'ok' }];
  // What is not set up, and a command that does not run, say themselves what to do.
  const fix = configured && backend === 'model' ? { fix: problem.hint } : {};
  return [{ ...found, status: configured ? 'fail' : 'warn', ...fix }];
}

/** Only where tests or linters are set up at all. */
async function checkQa(config: Config): Promise<Finding[]> {
  const { qa, repos } = config.section(dev);
  const sets = [qa, ...Object.values(repos)].some(({ test, lint }) => test || lint);
  if (!config.toolkits.includes('dev') || !sets) return [];
  const check = 'tests';
  if (qa.sandbox !== 'off' && (await bwrapWorks()))
    return [{ check, status: 'ok', detail: 'test and lint commands are confined by bubblewrap' }];
  const detail = 'bubblewrap is not installed or may not run here';
  if (qa.sandbox === 'bwrap')
    return [{ check, status: 'fail', detail, fix: 'Install bubblewrap, or set dev.qa.sandbox = "auto".' }];
  const off = qa.sandbox === 'off';
  return [
    {
      check,
      status: 'warn',
      detail: `test and lint commands run with your rights: ${off ? 'dev.qa.sandbox is "off"' : detail}`,
      fix: off ? 'Set dev.qa.sandbox = "auto" to confine them.' : 'Install bubblewrap to confine them.',
    },
  ];
}
