import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { openStorage } from '../../src/app/open-storage.ts';
import { appendEntries, prepareEntry } from '../../src/kernel/log/index.ts';
import { challengeOf, itemHash, type SignedItem } from '../../src/kernel/log/passkeys/statement.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import type { Database } from '../../src/kernel/store/database.ts';
import { type Frontier, rootOf } from '../../src/lib/merkle.ts';
import { newSalt, uuidv7 } from '../../src/lib/random.ts';
import { Authenticator } from '../../test/support/authenticator.ts';
import { freshHome, median } from './measure.ts';
import type { Row } from './table.ts';

const APPROVALS = 10_000;
const ROUNDS = 3;
const SECONDS = 3;
const BYTES = 1_300;
const WEB_BYTES = 3_000;
const PERSON = 'person:ada';
const START_MS = Date.UTC(2026, 10, 1);

/** What signatures add: time to verify, bytes in the log, bytes of the web app. */
export async function passkeyRows(): Promise<Row[]> {
  const plain = await measureLog(false);
  const signed = await measureLog(true);
  const seconds = signed.seconds - plain.seconds;
  const bytes = (signed.bytes - plain.bytes) / APPROVALS;
  const web = await webBytes();
  const row = (what: string, ours: string, value: number, budget: number, of: string): Row => ({
    what,
    bare: of,
    ours,
    ratio: value / budget,
    budget: 1,
    better: 'lower',
  });
  return [
    row(
      `audit verify, added by ${APPROVALS} signed approvals`,
      `${seconds.toFixed(2)} s`,
      seconds,
      SECONDS,
      `${SECONDS} s`,
    ),
    row('audit log, added by one signature', `${Math.round(bytes)} B`, bytes, BYTES, `${BYTES} B`),
    row('web app, added by passkeys (gzipped)', `${web} B`, web, WEB_BYTES, `${WEB_BYTES} B`),
  ];
}

/** A log of approved calls as the kernel writes it; each signature names the log as it was right before. */
async function measureLog(isSigned: boolean): Promise<{ seconds: number; bytes: number }> {
  const database = await openStorage({ url: join(freshHome(), 'log.db') });
  const key = new Authenticator();
  await database.write(async (trx) => {
    const write: Write = (...entries) => appendEntries(trx, database.engine, entries.map(prepareEntry));
    const head = async () => {
      const row = await trx.selectFrom('audit_head').selectAll().executeTakeFirstOrThrow();
      return { size: row.size, root: rootOf(JSON.parse(row.frontier) as Frontier) };
    };
    await write({ kind: 'config', at: at(0), principal: 'system:kernel', extra: { log: 'begun' } });
    const first = await trx.selectFrom('audit_log').select('hash').executeTakeFirstOrThrow();
    const preamble = async (index: number, nonce: string) => ({
      log: first.hash,
      head: await head(),
      issued: at(index),
      until: at(index + 120),
      nonce: nonce.padStart(22, '0'),
    });
    if (isSigned) {
      const { person, ...shape } = key.key(PERSON);
      const statement = {
        v: 'countersign-enrol/1' as const,
        person,
        key: shape,
        ...(await preamble(0, 'enrol')),
      };
      const possession = key.sign(challengeOf(statement).toString('base64url'));
      await write({
        kind: 'passkey',
        at: at(0),
        principal: PERSON,
        extra: { action: 'enrol', statement, possession },
      });
    }
    for (let index = 1; index <= APPROVALS; index += 1) await writeApproved(index);

    async function writeApproved(index: number): Promise<void> {
      const [uuid, digest] = [randomUUID(), 'd'.repeat(64)];
      const requester = 'agent:local';
      const call = { tool: 'x_post_tweet', toolkit: 'x', digest };
      const sign = isSigned ? { extra: { sign: 1 } } : {};
      await write({
        kind: 'approval',
        at: at(index),
        ...call,
        principal: requester,
        status: 'pending',
        rule: 'list:require_approval_for',
        approval: { uuid, digest, requester },
        ...sign,
      });
      const item: SignedItem = {
        approval: uuid,
        version: 1,
        kind: 'call',
        tool: call.tool,
        digest,
        binding: null,
        requester,
        expires: at(index + 86_400),
      };
      const salt = newSalt();
      let extra: Parameters<typeof prepareEntry>[0]['extra'];
      if (isSigned) {
        const statement = {
          v: 'countersign-decision/1' as const,
          person: PERSON,
          decision: 'approved' as const,
          scope: 'once' as const,
          of: 1,
          items: [itemHash(item, salt)],
          ...(await preamble(index, String(index))),
        };
        const by = key.signAs(challengeOf(statement).toString('base64url'));
        const entry = prepareEntry({
          kind: 'signature',
          at: at(index),
          principal: PERSON,
          extra: { statement, by },
        });
        await appendEntries(trx, database.engine, [entry]);
        const { version, binding, expires } = item;
        extra = { signed: { item: { version, binding, expires }, by: [{ entry: entry.hash, salt }] } };
      }
      const decided = { uuid, digest, requester, approver: PERSON };
      const ran = { ...call, call: uuidv7(START_MS + index), principal: requester, effect: 'change' };
      await write(
        {
          kind: 'approval',
          at: at(index),
          ...call,
          principal: PERSON,
          status: 'approved',
          approval: decided,
          extra,
        },
        { kind: 'intent', at: at(index), ...ran, decision: 'ask', approval: decided },
        { kind: 'outcome', at: at(index), ...ran, decision: 'ask', approval: decided, status: 'ok' },
      );
    }
  });
  const seconds = await verifySeconds(database);
  const { bytes } = await bytesOf(database);
  await database.close();
  return { seconds, bytes };
}

type Write = (...entries: Parameters<typeof prepareEntry>[0][]) => Promise<unknown>;

const at = (index: number): string => new Date(START_MS + index * 1000).toISOString();

/** Of processor time: what else runs on the machine does not count. */
async function verifySeconds(database: Database): Promise<number> {
  const runs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = process.cpuUsage();
    const { ok, first } = await verifyLog(database);
    const { user, system } = process.cpuUsage(started);
    runs.push((user + system) / 1e6);
    if (!ok) throw new Error(`The benchmark's own log is invalid: ${first?.message}`);
  }
  return median(runs);
}

async function bytesOf({ db }: Database): Promise<{ bytes: number }> {
  const rows = await db.selectFrom('audit_log').select('body').execute();
  return { bytes: rows.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0) };
}

const OWN = /src\/web\/(ui\/passkey|app\/passkeys\/|app\/inbox\/sign-)/;
/** What the rest of the app takes from the files that exist for passkeys alone. */
const EMPTY = `export default () => null;
export const sign = 0, create = 0, signDecisions = 0, signAs = 0, SignAs = 0;
export const SignBatch = () => null, SignNotice = () => null;`;

/** The app with passkeys and without, each minified and compressed as one file. */
async function webBytes(): Promise<number> {
  const leaveOut: Plugin = {
    name: 'leave-out',
    setup: ({ onLoad }) => onLoad({ filter: OWN }, () => ({ contents: EMPTY, loader: 'js' })),
  };
  return (await appBytes([])) - (await appBytes([leaveOut]));
}

async function appBytes(plugins: Plugin[]): Promise<number> {
  const made = await build({
    entryPoints: ['src/web/app/main.tsx'],
    bundle: true,
    minify: true,
    write: false,
    outdir: '.tmp',
    format: 'esm',
    jsx: 'automatic',
    loader: { '.svg': 'empty', '.css': 'empty', '.woff2': 'empty' },
    logLevel: 'error',
    plugins,
  });
  return made.outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);
}
