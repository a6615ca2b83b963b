import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type App, openApp, readConfig } from '../../app/app.ts';
import { createServed } from '../../app/serving.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/path.ts';
import type { Finding, GlobalOptions } from '../../contract/command.ts';
import { outdatedServer, runningServer, serverEvidenceProblem } from '../../daemon/running-server.ts';
import { findEvidenceProblem } from '../../kernel/health.ts';
import { describeKeyMismatch, findKeyMismatch } from '../../kernel/log/signing/key-mismatch.ts';
import { latestEntryTime } from '../../kernel/views/audit.ts';
import { describeDatabaseError } from '../../lib/database-error.ts';
import { isObject } from '../../lib/is-object.ts';
import { VERSION } from '../../lib/log.ts';
import { lookup } from '../../lib/lookup.ts';
import { shellWord } from '../../lib/text.ts';
import { findFileDamage } from '../../storage/open.ts';
import { isPostgresUrl, StoreError, storeError } from '../../storage/store-error.ts';
import { paint } from '../../terminal/color.ts';
import { print, printJson } from '../../terminal/output.ts';
import { counted } from '../../terminal/text.ts';
import { toolkitEntries } from '../../toolkits/index.generated.ts';
import { commandApp } from '../command-host.ts';

const MIN_NODE = [20, 19] as const;

/** Words for people where the name of a check in `--json` is older than the glossary. */
const LABELS: Readonly<Record<string, string>> = { store: 'database', unsettled: 'outcomes' };

/** Tries everything a session needs, and says for each fault what to do. Exit code 1 when something is broken. */
export async function doctor(global: GlobalOptions): Promise<void> {
  const findings: Finding[] = [checkNode()];
  const options = {
    configPath: global.config,
    env: process.env,
    flags: { 'log.level': 'silent' },
    isServing: true,
  };
  let app: App | undefined;
  try {
    const config = readConfig(options);
    findings.push({
      check: 'configuration',
      status: 'ok',
      detail: existsSync(config.path) ? config.path : `using defaults (no file at ${config.path})`,
    });
    const opened = await openApp(options).catch((error: unknown) => {
      // What opens may still have a part that cannot be read.
      if (error instanceof StoreError || describeDatabaseError(error) !== undefined)
        return storeError(config.storageUrl, error);
      throw error;
    });
    if (opened instanceof StoreError) findings.push(...(await checkWithoutStore(config, opened, global)));
    else {
      app = opened;
      findings.push(...(await checkApp(app, global)));
    }
  } catch (error) {
    const detail = describeDatabaseError(error) ?? (error instanceof Error ? error.message : String(error));
    findings.push({
      check: error instanceof ConfigError ? 'configuration' : 'start',
      status: 'fail',
      detail,
      fix: 'Fix the problem above, then run `countersign doctor` again.',
    });
  } finally {
    await app?.close();
  }
  if (findings.some(({ status }) => status === 'fail')) process.exitCode = 1;
  if (global.json) return printJson({ version: VERSION, findings });
  const sign = { ok: paint('green', '✓'), warn: paint('yellow', '!'), fail: paint('red', '✗') } as const;
  for (const { check, status, detail, fix } of findings) {
    print(`${sign[status]} ${(lookup(LABELS, check) ?? check).padEnd(14)} ${detail}`);
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

async function checkApp(app: App, global: GlobalOptions): Promise<Finding[]> {
  const damage = await findFileDamage(app.database);
  if (damage !== undefined) return checkWithoutStore(app.config, new StoreError(damage), global);
  return [
    await checkStore(app),
    await checkEvidence(app),
    checkPolicy(app),
    ...(await checkKey(app)),
    checkPermissions(app.config),
    await checkClock(app),
    await checkHandshake(app),
    ...(await checkServer(app)),
    await checkUnsettled(app),
    ...(await checkToolkits(app.config, global, app)),
  ];
}

/** Why there is no store is one finding; what needs none is looked at all the same. */
async function checkWithoutStore(
  config: Config,
  { message }: StoreError,
  global: GlobalOptions,
): Promise<Finding[]> {
  return [
    {
      check: 'store',
      status: 'fail',
      detail: message,
      fix: 'Fix the database, then run `countersign doctor` again. Checks that need it (clock, MCP and others) were skipped.',
    },
    checkPermissions(config),
    await checkPort(config),
    ...(await checkToolkits(config, global)),
  ];
}

async function checkStore({ database, ports }: App): Promise<Finding> {
  const health = await ports.health.check();
  if (health.status !== 'ok')
    return {
      check: 'store',
      status: 'fail',
      detail: isObject(health.database) ? String(health.database.message) : '',
      fix: 'Check `storage.url` and the disk.',
    };
  return {
    check: 'store',
    status: 'ok',
    detail: `${database.engine}, ${counted(Number(health.evidence_entries), 'audit log entry', 'audit log entries')}`,
  };
}

/** A database that can be read is of no use when calls cannot leave evidence: then none is answered. */
async function checkEvidence(app: App): Promise<Finding> {
  const check = 'evidence';
  const running = await runningServer(app);
  const problem =
    (await findEvidenceProblem(app.database)) ?? (running && (await serverEvidenceProblem(running)));
  if (problem === undefined) return { check, status: 'ok', detail: 'the audit log can be written' };
  return {
    check,
    status: 'fail',
    detail: `the audit log cannot be written, so calls fail. ${problem}`,
    fix: 'Free disk space, or make the database writable. Calls that wait are then written automatically.',
  };
}

/** Rules in the database are those that people set, or no change is allowed. */
function checkPolicy({ policy }: App): Finding {
  const { problem } = policy;
  if (problem === undefined)
    return { check: 'policy', status: 'ok', detail: 'the rules are as people set them' };
  return {
    check: 'policy',
    status: 'fail',
    detail: problem,
    fix: 'Run `countersign audit verify`, then set the rules again on the Policy page (`countersign open`).',
  };
}

/** With SQLite such a database is refused; a server that joins others on PostgreSQL may bring its key. */
async function checkKey({ database, config }: App): Promise<Finding[]> {
  const mismatch = await findKeyMismatch(database, config.dataDir);
  return mismatch === undefined
    ? []
    : [{ check: 'signing key', status: 'warn', detail: describeKeyMismatch(mismatch) }];
}

function checkPermissions(config: Config): Finding {
  const check = 'permissions';
  const files = [
    config.path,
    ...(isPostgresUrl(config.storageUrl) ? [] : [config.storageUrl]),
    join(config.dataDir, 'audit-key.pem'),
  ];
  const open = files.filter(isOpenToOthers);
  // A user who may write to the directory can replace its files, however private each of them is.
  const openHome = [config.dataDir].filter(isOpenToOthers);
  if (open.length + openHome.length > 0) {
    const fixes = [
      ...(openHome.length > 0 ? [`chmod 700 ${openHome.map(shellWord).join(' ')}`] : []),
      ...(open.length > 0 ? [`chmod 600 ${open.map(shellWord).join(' ')}`] : []),
    ];
    return {
      check,
      status: 'warn',
      detail: `accessible to other users: ${[...openHome, ...open].join(', ')}`,
      fix: fixes.join(' && '),
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
      fix: 'Set COUNTERSIGN_HOME to a directory you can write to.',
    };
  }
}

/** Windows has no such mode; there the profile of a user is private. */
const isOpenToOthers = (path: string): boolean =>
  process.platform !== 'win32' && existsSync(path) && (statSync(path).mode & 0o077) !== 0;

/** A clock that stands before the newest evidence was set back; limits and expiry would go wrong. */
async function checkClock({ database, now }: App): Promise<Finding> {
  const last = await latestEntryTime(database);
  if (last !== undefined && last > new Date(now().getTime() + 60_000).toISOString()) {
    return {
      check: 'clock',
      status: 'warn',
      detail: `the latest audit entry (${last}) is dated in the future`,
      fix: 'Correct the system clock.',
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
        detail: `handshake OK, ${counted(tools.length, 'tool')} listed in ${Math.round(performance.now() - started)} ms`,
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
      fix: 'Run again with --verbose and report the output.',
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
  if (free)
    return { check: 'port', status: 'ok', detail: `${host}:${port} is available for \`countersign up\`` };
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
  if (ours)
    return { check: 'port', status: 'ok', detail: `\`countersign up\` is running on ${host}:${port}` };
  return {
    check: 'port',
    status: 'warn',
    detail: `${host}:${port} is in use by another program`,
    fix: 'Set `server.port`, or stop the other program.',
  };
}

/** The port matters as long as no server runs; the one that runs may have been given another by a flag. */
async function checkServer(app: App): Promise<Finding[]> {
  const url = await runningServer(app);
  if (url === undefined) return [await checkPort(app.config)];
  const outdated = await outdatedServer(app);
  return [
    { check: 'port', status: 'ok', detail: `\`countersign up\` is running on ${new URL(url).host}` },
    ...(outdated ? [{ check: 'server', status: 'warn', detail: outdated } as const] : []),
  ];
}

async function checkUnsettled({ kernel }: App): Promise<Finding> {
  const { open } = await kernel.recover();
  if (open === 0) return { check: 'unsettled', status: 'ok', detail: 'the outcome of every change is known' };
  return {
    check: 'unsettled',
    status: 'warn',
    detail: `${counted(open, 'change')} with an unknown outcome`,
    fix: 'Run `countersign status` to list them.',
  };
}

/** Asks each enabled toolkit for checks of its own; without a database they have only the settings. */
async function checkToolkits(config: Config, global: GlobalOptions, app?: App): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { id, commands } of toolkitEntries) {
    if (!commands?.check || !config.toolkits.includes(id)) continue;
    const host = { section: config.section, app: app && commandApp(app, id, global) };
    found.push(...(await commands.check(host)));
  }
  return found;
}
