import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/app/open-storage.ts';
import { approvalDifferences } from '../../src/kernel/views/approval-evidence.ts';
import { openTerminal, type Terminal } from '../cli/support.ts';
import { CONFIG, type LogWorld, openLogWorld, PERSON } from './log-world.ts';
import { normaliser } from './normalise.ts';
import { expectOnlyPins, expectPin } from './pin.ts';

type Path = (world: LogWorld, home: string) => Promise<void>;

const askPermit = async ({ data, approvals }: LogWorld, tool: string, args: Record<string, string>) => {
  const asked = await data('approval_request', { tool, arguments: args, reason: 'Please' });
  await approvals.approve(String(asked.approval_id), PERSON);
  return { uuid: String(asked.approval_id), id: Number(asked.approval_queue_id) };
};

/** A project with one source and one code, in which an agent suggests two codings. */
async function suggestCodings({ data }: LogWorld, home: string): Promise<Record<string, unknown>> {
  await data('create_project', { path: join(home, 'study.qda') }, true);
  await data('add_source', { name: 'interview.txt', content: 'I worry. We talk. I walk.' }, true);
  await data('create_code', { name: 'Coping', color: '#228833' }, true);
  const segments = [
    { source_id: 1, start_pos: 9, end_pos: 17 },
    { source_id: 1, start_pos: 18, end_pos: 25 },
  ];
  return data('suggest_batch_coding', { code_id: 1, segments, rationale: 'It helps.' });
}
const suggestionIds = ({ suggestion_ids }: Record<string, unknown>): string[] => suggestion_ids as string[];

const PATHS: Readonly<Record<string, Path>> = {
  async approve({ route, approvals }) {
    await approvals.approve(await route('pin_write', { text: 'a' }), PERSON, { note: 'Fine' });
  },
  async approve_failing({ route, approvals }) {
    await approvals.approve(await route('pin_write', { text: 'a', ends: 'failed' }), PERSON);
  },
  async approve_read({ route, approvals }) {
    await approvals.approve(await route('pin_read', {}), PERSON);
  },
  async reject({ route, approvals }) {
    const id = await route('pin_write', { text: 'a' });
    await approvals.reject(id, PERSON, { reason: 'No', feedback: 'Be kinder' });
  },
  async edit_and_approve({ route, approvals }) {
    const id = await route('pin_write', { text: 'a' });
    await approvals.edit(id, PERSON, { text: 'b' });
    await approvals.approve(id, PERSON);
  },
  async expire(world) {
    await world.route('pin_write', { text: 'a' });
    await askPermit(world, 'pin_permitted', { text: 'b' });
    world.moveOn(24 * 30);
    expect(await world.approvals.count({ states: ['pending'] })).toBe(0);
  },
  async withdraw(world) {
    const id = await world.route('pin_write', { text: 'a' });
    await world.approvals.withdraw(id, { kind: 'agent', id: 'local' });
    const permit = await askPermit(world, 'pin_permitted', { text: 'b' });
    await world.approvals.withdraw(permit.id, PERSON);
  },
  async permit_consumed(world) {
    const { uuid } = await askPermit(world, 'pin_permitted', { text: 'a' });
    await world.data('pin_permitted', { text: 'a', approval_id: uuid });
    const again = await world.call('pin_permitted', { text: 'a', approval_id: uuid });
    expect(again.outcome.status).toBe('refused');
  },
  async permit_given_back(world) {
    const args = { text: 'a', ends: 'late', found: 'not_done' };
    const permit = await askPermit(world, 'pin_write', args);
    const running = world.call('pin_write', args);
    await world.lose('pin_write');
    expect(await world.recover()).toMatchObject({ interrupted: 1, settled: 1 });
    expect((await world.approvals.get(permit.id))?.state).toBe('approved');
    world.openGate();
    await running;
    expect((await world.approvals.get(permit.id))?.state).toBe('done');
  },
  async paused({ route, approvals, setPaused }) {
    const id = await route('pin_write', { text: 'a' });
    await setPaused(true);
    expect((await approvals.approve(id, PERSON)).approval.state).toBe('pending');
    await setPaused(false);
    await approvals.approve(id, PERSON);
  },
  async indeterminate_settled({ route, approvals, settle }) {
    for (const happened of [true, false]) {
      const id = await route('pin_write', { text: String(happened), ends: 'unknown' });
      const { approval } = await approvals.approve(id, PERSON);
      expect(approval.state).toBe('indeterminate');
      expect(await settle(String(approval.callId), happened)).toBe(true);
    }
  },
  async lost_and_reconciled({ route, approvals, lose, recover, openGate }) {
    const id = await route('pin_write', { text: 'a', ends: 'late', found: 'done' });
    const running = approvals.approve(id, PERSON);
    await lose('pin_write');
    expect(await recover()).toMatchObject({ interrupted: 1, settled: 1 });
    expect((await approvals.get(id))?.state).toBe('done');
    openGate();
    await running;
  },
  async lost_and_settled({ route, approvals, lose, recover, settle }) {
    const id = await route('pin_write', { text: 'a', ends: 'late' });
    // Never finished: the process of this call counts as dead.
    void approvals.approve(id, PERSON).catch(() => {});
    const callId = await lose('pin_write');
    expect(await recover()).toMatchObject({ interrupted: 1, open: 1 });
    expect(await settle(callId, false)).toBe(true);
    expect((await approvals.get(id))?.state).toBe('failed');
  },
  async late_finish({ route, approvals, lose, recover, openGate }) {
    const id = await route('pin_write', { text: 'a', ends: 'late' }, 'key');
    const running = approvals.approve(id, PERSON);
    await lose('pin_write');
    expect(await recover()).toMatchObject({ interrupted: 1, open: 1 });
    openGate();
    expect((await running).outcome?.status).toBe('ok');
    expect((await approvals.get(id))?.state).toBe('done');
  },
  async lost_read({ route, approvals, untilExecuting, moveOn, recover, openGate }) {
    const id = await route('pin_read', { late: true });
    const running = approvals.approve(id, PERSON);
    await untilExecuting(id);
    moveOn(2);
    await recover();
    expect((await approvals.get(id))?.state).toBe('failed');
    openGate();
    await running;
  },
  async replayed({ route, approvals, call }) {
    const first = await route('pin_write', { text: 'a' }, 'key');
    await approvals.approve(first, PERSON);
    expect((await call('pin_write', { text: 'a' }, { key: 'key' })).outcome).toMatchObject({
      replayed: true,
    });
  },
  async answered_by_replay(world) {
    const args = { text: 'a', ends: 'well', found: 'unknown' };
    const id = await world.route('pin_write', args, 'key');
    await askPermit(world, 'pin_write', args);
    expect((await world.call('pin_write', args, { key: 'key' })).outcome.status).toBe('ok');
    expect((await world.approvals.approve(id, PERSON)).outcome).toMatchObject({ replayed: true });
  },
  async batch({ route, approvals }) {
    await approvals.approve(await route('pin_batch', { texts: ['a', 'b'] }), PERSON);
  },
  async suggestion_accepted(world, home) {
    const [first] = suggestionIds(await suggestCodings(world, home));
    await world.data('approve_coding_suggestion', { suggestion_id: String(first) }, true);
  },
  async suggestion_rejected(world, home) {
    const [first] = suggestionIds(await suggestCodings(world, home));
    const rejected = { suggestion_id: String(first), reason: 'No', feedback: 'Read on' };
    await world.data('reject_coding_suggestion', rejected, true);
  },
  async suggestion_batch(world, home) {
    const { batch_id } = await suggestCodings(world, home);
    await world.data('approve_batch_coding', { batch_id: String(batch_id) }, true);
  },
};

/** Paths with arguments that differ from run to run: a directory, the id of a permit. */
const VARYING = /^suggestion_|^permit_consumed$/;

/** Written in groups by a timer: where they stand among the other entries is chance. */
const GROUPED = /^(read|call|refusal|dry_run)$/;

afterAll(() =>
  expectOnlyPins(
    'logs',
    Object.keys(PATHS).map((name) => `${name}.json`),
  ),
);

describe('the audit log', () => {
  it.each(Object.keys(PATHS))('of the approval path %s is as pinned, and verifies', async (name) => {
    const terminal = openTerminal(CONFIG);
    try {
      const world = await openLogWorld(terminal.home);
      await PATHS[name]?.(world, terminal.home);
      await world.close();
      // A read that was taken for lost and answered after all is the one that verify names, too.
      if (name !== 'lost_read') await expectAgreement(terminal.home);
      expectPin(`logs/${name}.json`, await whatIsLeft(terminal, VARYING.test(name)));
    } finally {
      terminal.close();
    }
  });
});

/** What people are shown of each approval is what the log has, whichever way it went. */
async function expectAgreement(home: string): Promise<void> {
  const database = await openStorage({ url: join(home, 'countersign.db') });
  const rows = await database.db.selectFrom('approvals').select(['id', 'uuid', 'version']).execute();
  expect(rows).not.toEqual([]);
  for (const row of rows) expect(await approvalDifferences(database, row)).toEqual([]);
  await database.close();
}

async function whatIsLeft(terminal: Terminal, varies: boolean): Promise<unknown> {
  // The tools of these paths are unknown to the product, so its own policy must not name them.
  terminal.configure('');
  const report = await terminal.json('audit', 'verify');
  const db = new Database(join(terminal.home, 'countersign.db'));
  const rows = <T>(query: string) => db.prepare(query).all() as T[];
  const entries = rows<{ kind: string; body: string }>('select kind, body from audit_log order by seq');
  const all = entries.map(({ kind, body }) => ({ kind, ...(JSON.parse(body) as object) }));
  const approvals = rows<object>(
    'select id, uuid, kind, state, version, tool, decided_by, call_id from approvals order by id',
  );
  db.close();
  const normalise = normaliser({
    texts: { [terminal.home]: '<home>' },
    // The digest of equal arguments must never change.
    kept: varies ? undefined : /^digest$/,
  });
  return normalise({
    entries: all.filter(({ kind }) => !GROUPED.test(kind)),
    grouped: all.filter(({ kind }) => GROUPED.test(kind)),
    approvals,
    report,
  });
}
