import assert from 'node:assert/strict';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { AGENT, OTHER, openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { McpPolicyConfig, PolicyRule } from '../../contract/policy.ts';
import { policyRule } from '../../contract/policy.ts';
import { principalName } from '../../contract/principal.ts';
import type { ArgumentPredicate } from '../../contract/standing.ts';
import { verifyLog } from '../log/verify/verify.ts';

const START = Date.parse('2026-03-01T10:00:00Z');
const MINUTE = 60_000;
const TEXTS = ['note', 'note one', 'note two', 'other', 'see https://acme.dev/x', 'see https://evil.example'];

const textPredicate: fc.Arbitrary<ArgumentPredicate> = fc.constantFrom<ArgumentPredicate>(
  { arg: 'text', op: 'equals', value: 'note' },
  { arg: 'text', op: 'equals', value: 'other' },
  { arg: 'text', op: 'starts_with', text: 'note' },
  { arg: 'text', op: 'any' },
  { arg: 'text', op: 'links_only', hosts: ['acme.dev'] },
  { arg: 'text', op: 'one_of', values: ['note', 'other'] },
);
/** Mostly the first value, so that several obstacles rarely come together. */
const mostly = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const predicates = fc
  .tuple(textPredicate, mostly(false, true))
  .map(([text, withRun]): ArgumentPredicate[] =>
    withRun ? [text, { arg: 'run_id', op: 'equals', value: 'r1' }] : [text],
  );

const world = fc.record({
  predicates,
  uses: fc.integer({ min: 1, max: 3 }),
  minutes: fc.integer({ min: 1, max: 20 }),
  agent: mostly(AGENT, OTHER),
  // Each of these refuses or holds a call on its own.
  deny: mostly<'none' | 'rule' | 'blocked'>('none', 'rule', 'blocked'),
  dryRun: mostly(false, true),
  limit: mostly<number | undefined>(undefined, 0, 1),
  asks: mostly(true, false),
  revokeAfter: mostly<number | undefined>(undefined, 0, 1, 2),
  calls: fc.array(
    fc.record({
      text: fc.constantFrom('note', 'note', 'note', ...TEXTS),
      run: mostly<string | undefined>(undefined, 'r1', 'r2'),
      by: mostly(AGENT, OTHER),
      wait: mostly(0, 1, 8),
      paused: mostly(false, true),
      changed: mostly(false, true),
      asksForDryRun: mostly(false, true),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

/** Written again here, in other words than the kernel's: a test that called it could not notice a mistake in it. */
function fits(wanted: readonly ArgumentPredicate[], text: string, run: string | undefined): boolean {
  const needsRun = wanted.some(({ arg }) => arg === 'run_id');
  if (needsRun !== (run !== undefined) || (needsRun && run !== 'r1')) return false;
  const [one] = wanted;
  if (one?.op === 'equals') return one.value === text;
  if (one?.op === 'starts_with') return text.slice(0, 4) === 'note';
  if (one?.op === 'one_of') return text === 'note' || text === 'other';
  return one?.op === 'any' || !text.includes('evil');
}

describe('a standing approval', () => {
  let store: TestStore;
  let test: TestKernel;
  let now = START;
  let round = 0;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
    test = await openTestKernel(store.database, store.dataDir, { now: () => new Date(now) });
  });
  afterAll(() => store.close());

  it('allows nothing that a deny, a block, a limit, a dry run or a pause refuses, nor anything outside itself', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        round += 1;
        const start = now;
        await test.setPolicy(policyOf(given, `limit_${round}`));
        const { id } = await test.kernel.standing.add(
          {
            agent: principalName(given.agent),
            tool: 'ledger_write',
            predicates: given.predicates,
            until: new Date(start + given.minutes * MINUTE).toISOString(),
            uses: given.uses,
          },
          PERSON,
        );
        const known = await test.inventory.resolve('ledger_write');
        assert(known);
        let used = 0;
        let counted = 0;
        for (const [at, call] of given.calls.entries()) {
          if (given.revokeAfter === at) await test.kernel.standing.revoke(id, PERSON);
          now += call.wait * MINUTE;
          await test.kernel.setPaused(call.paused, PERSON);
          const args: JsonObject = { text: call.text };
          if (call.run !== undefined) args.run_id = call.run;
          if (call.asksForDryRun) args.dry_run = true;
          const bound = call.changed
            ? { ...known, tool: { ...known.tool, definition: { changed: true } } }
            : known;
          const before = (await test.lines()).length;
          const { outcome } = await test.kernel.invoke({
            bound,
            args,
            principal: call.by,
            transport: 'test',
            // Runs replay equal calls; a key of its own makes each a call that policy evaluates.
            idempotencyKey: `k${round}-${at}`,
          });
          const ran = (await test.lines()).length > before;
          assert.equal(ran, outcome.status === 'ok');

          const refused =
            given.deny !== 'none' ||
            given.dryRun ||
            call.asksForDryRun ||
            call.paused ||
            (given.limit !== undefined && counted >= given.limit);
          const covered =
            call.by === given.agent &&
            !call.changed &&
            used < given.uses &&
            now < start + given.minutes * MINUTE &&
            (given.revokeAfter === undefined || at < given.revokeAfter) &&
            fits(given.predicates, call.text, call.run);
          assert.equal(ran, !refused && (!given.asks || covered), JSON.stringify({ given, at, outcome }));
          if (ran) counted += 1;
          if (ran && given.asks) used += 1;
        }
        answered += used;
        const listed = (await test.kernel.standing.list()).find((one) => one.id === id);
        assert.equal(listed?.used, used);
        await test.kernel.setPaused(false, PERSON);
        await test.kernel.standing.revoke(id, PERSON);
        now = start + 60 * MINUTE;
      }),
      { numRuns: 200 },
    );
    assert.ok(answered > 50, `only ${answered} calls were answered at all`);
    await test.kernel.flush();
    const { problems } = await verifyLog(store.database, { rows: true });
    assert.deepEqual(problems, []);
  });
});

function policyOf(
  { deny, dryRun, limit, asks }: { deny: string; dryRun: boolean; limit: number | undefined; asks: boolean },
  key: string,
): Partial<McpPolicyConfig> {
  const rules: PolicyRule[] = [];
  if (asks) rules.push(policyRule.parse({ id: 'ask', tools: ['ledger_write'], action: 'ask' }));
  if (deny === 'rule') rules.push(policyRule.parse({ id: 'no', tools: ['ledger_write'], action: 'deny' }));
  return {
    rules,
    template: 'none',
    blocked_tools: deny === 'blocked' ? ['ledger_write'] : [],
    dry_run_mutations: dryRun,
    limits:
      limit === undefined
        ? []
        : [{ key, dimension: 'tool', match: 'ledger_write', max: limit, period_seconds: 86_400 }],
  };
}
