import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Ports } from '../ports.ts';
import { createPipeline, newCall } from './pipeline.ts';
import { openSteps, rawCall, type StepStore, toolNamed } from './steps.fixture.ts';
import type { Tracing } from './tracing.ts';

const NOW = new Date('2026-03-02T10:30:00Z');

describe('a new call', () => {
  it('has nothing decided, used or noted, and an ID that carries its time', () => {
    const { request } = rawCall(toolNamed('ledger_write'), { text: 'a' });
    const call = newCall(request, NOW);
    expect(call).toEqual({
      id: expect.any(String),
      request,
      startedAt: NOW,
      startedMs: expect.any(Number),
      args: {},
      digest: '',
      askedDigest: '',
      isPrepared: false,
      dryRunRequested: false,
      policyStamp: '',
      limits: [],
      signers: 0,
      partDone: false,
      admitted: false,
      intentInDoubt: false,
      artifacts: [],
      attachments: [],
      notes: {},
    });
    expect(Number.parseInt(call.id.replaceAll('-', '').slice(0, 12), 16)).toBe(NOW.getTime());
  });

  it('keeps on whose order it is made', () => {
    const { request } = rawCall(toolNamed('ledger_write'), {});
    const principal = { ...LOCAL_AGENT, orderedBy: 'person:ada' };
    expect(newCall({ ...request, principal }, NOW).evidence).toEqual({ ordered_by: 'person:ada' });
  });
});

describe('the pipeline', () => {
  let steps: StepStore;
  beforeEach(async () => {
    steps = await openSteps();
  });
  afterEach(() => steps.store.close());

  const read = toolNamed('ledger_read', { run: async () => ({ count: 1 }) });
  const invoke = (ports: Ports, tool = read, args: object = {}) =>
    createPipeline(ports)(rawCall(tool, args).request);

  it('passes every step in order, and ends the trace with the outcome', async () => {
    const names: string[] = [];
    const ends: unknown[] = [];
    const tracing: Tracing = {
      begin: () => ({
        traceparent: 'ours',
        step(name, work) {
          names.push(name);
          return work();
        },
        end: (facts) => void ends.push(facts),
      }),
    };
    const { outcome } = await invoke({ ...steps.ports, tracing });
    expect(outcome).toMatchObject({ status: 'ok', data: { count: 1 } });
    expect(names).toEqual([
      'record',
      'contain',
      'validate',
      'caller',
      'replay',
      'check',
      'prepare',
      'decide',
      'admit',
      'run',
    ]);
    expect(ends).toEqual([{ status: 'ok', decision: 'allow', rule: 'default' }]);
  });

  it('reports the arguments as they were validated, and the hash of the evidence', async () => {
    const result = await invoke(steps.ports, read, { echo: 'hi' });
    expect(result).toMatchObject({ args: { echo: 'hi' }, dryRun: false });
    expect(result.evidenceHash).toMatch(/^[0-9a-f]{64}$/);
    expect(result.elapsedMs).toBeGreaterThanOrEqual(0);
    expect(result.elapsedMs).toBeLessThan(120_000);
  });

  it('calls it a dry run where one was asked for, also in vain', async () => {
    const write = toolNamed('ledger_write');
    const asked = await invoke(steps.ports, write, { text: 7, dry_run: true });
    expect(asked).toMatchObject({ dryRun: true, outcome: { status: 'failed' } });
    expect((await invoke(steps.ports, write, { text: 7 })).dryRun).toBe(false);
  });
});
