import { describe, expect, it } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Tool } from '../../contract/tool.ts';
import { keyHash } from '../log/rows/key-row.ts';
import type { CallState } from './call.ts';
import { callRow, codeOf, entryOf, heldKey, intentExtra, sealArgs, sealResult } from './evidence.ts';
import { ALLOW, DONE, rawCall, toolNamed } from './steps.fixture.ts';

const write = toolNamed('ledger_write');
const ADA = { kind: 'person', id: 'ada' } as const;
const GRANT = {
  id: 3,
  uuid: 'u',
  digest: 'd',
  kind: 'call',
  requester: LOCAL_AGENT,
  decidedBy: ADA,
} as unknown as Approval;

const callWith = (more: Partial<CallState> = {}, request = {}): CallState =>
  Object.assign(rawCall(write, {}, request), more);
const LIMITS = [
  { key: 'all', max: 1, periodSeconds: 60, dimension: 'global', match: '*' },
  { key: 'few', max: 1, periodSeconds: 3_600, dimension: 'global', match: '*' },
] as const;

describe('the row of a call', () => {
  it('has no more than is known before it was decided', () => {
    const call = callWith();
    expect(callRow(call)).toEqual({
      call_id: call.id,
      parent_id: null,
      started_at: call.startedAt.toISOString(),
      finished_at: null,
      tool: 'ledger_write',
      toolkit: 'ledger',
      category: 'ledger',
      effect: 'change',
      principal: 'agent:local',
      client: null,
      transport: 'test',
      run_id: null,
      digest: '',
      status: 'running',
      code: null,
      decision: 'none',
      rule: null,
      latency_ms: 0,
      evidence_hash: null,
      approval_id: null,
      approver: null,
      replay_of: null,
      holder_host: null,
      holder_pid: null,
      lease_until: null,
    });
  });

  it('names the whole, the run, the decision, the approval and the call it replays', () => {
    const parent = callWith();
    const more = { runId: 'r', digest: 'd', decision: ALLOW, grant: GRANT, replayOf: 'first' };
    expect(callRow(callWith(more, { parent, client: 'Claude' }))).toMatchObject({
      parent_id: parent.id,
      client: 'Claude',
      run_id: 'r',
      digest: 'd',
      decision: 'allow',
      rule: 'default',
      approval_id: 3,
      approver: 'person:ada',
      replay_of: 'first',
    });
    expect(callRow(callWith({ grant: { ...GRANT, decidedBy: undefined } })).approver).toBeNull();
  });
});

describe('the entry of a call', () => {
  it('leaves out what is not known', () => {
    const call = callWith();
    expect(entryOf(call, 'read', {})).toEqual({
      kind: 'read',
      at: call.startedAt.toISOString(),
      call: call.id,
      tool: 'ledger_write',
      toolkit: 'ledger',
      effect: 'change',
      principal: 'agent:local',
      transport: 'test',
    });
  });

  it('says who approved what, and whether its digest is that of the call', () => {
    const approval = { uuid: 'u', digest: 'd', approver: 'person:ada', requester: 'agent:local' };
    const approvalOf = (grant: Approval, request = {}) =>
      entryOf(callWith({ grant }, request), 'intent', {}).approval;
    expect(approvalOf(GRANT)).toEqual(approval);
    expect(approvalOf({ ...GRANT, kind: 'permit' })).toEqual({ ...approval, permit: true });
    expect(approvalOf(GRANT, { parent: callWith({ grant: GRANT }) })).toEqual({ ...approval, permit: true });
    expect(approvalOf(GRANT, { parent: callWith() })).toEqual(approval);
    expect(approvalOf({ ...GRANT, decidedBy: undefined })).toEqual({ ...approval, approver: undefined });
  });

  it('names on an intent the counters, the standing approval and the key that it uses', () => {
    const standing = { id: 4, uuid: 's' } as unknown as NonNullable<CallState['standing']>;
    const extraOf = (more: Partial<CallState>) => intentExtra(callWith(more), 'salt');
    expect(extraOf({ limits: LIMITS })).toEqual({ limits: { all: 60, few: 3_600 } });
    expect(extraOf({ standing })).toEqual({ limits: {}, standing: 's' });
    expect(extraOf({ replayKey: 'k', askedDigest: 'd', replayUntil: 'later' })).toEqual({
      limits: {},
      replay_key: { hash: keyHash('salt', { scope_key: 'k', digest: 'd' }), until: 'later' },
    });
    expect(entryOf(callWith({ limits: LIMITS, standing }), 'outcome', {}).extra).toBeUndefined();
  });

  it('says until when a key is held also where the salt is gone', () => {
    expect(heldKey(callWith({ replayKey: 'k' }), '')).toEqual({ until: null });
  });

  it('carries the whole, the run, the decision and what the step adds', () => {
    const parent = callWith();
    const more = { runId: 'r', digest: 'd', decision: ALLOW, replayOf: 'first' };
    expect(entryOf(callWith(more, { parent, client: 'Claude' }), 'call', { status: 'ok' })).toMatchObject({
      parent: parent.id,
      run: 'r',
      client: 'Claude',
      digest: 'd',
      decision: 'allow',
      rule: 'default',
      policyVersion: 'v',
      replayOf: 'first',
      status: 'ok',
    });
  });
});

describe('what evidence keeps', () => {
  const bodyOf = (text: string | null): JsonObject => JSON.parse(text ?? 'null');
  const argsOf = (args: JsonObject, more: Partial<Tool> = {}) =>
    bodyOf(sealArgs(Object.assign(rawCall({ ...write, ...more }, {}), { args })).body);
  const resultOf = (result: JsonObject, more: Partial<Tool> = {}) =>
    bodyOf(sealResult(rawCall({ ...write, ...more }, {}), result, true).body);
  const HIDDEN = { $hash: expect.any(String), $salt: expect.any(String) };

  it('of arguments is everything but private and secret values, at most 256 KiB', () => {
    const args = { text: 'a', secret_note: 'b', password: 'c' };
    expect(argsOf(args)).toEqual({ text: 'a', secret_note: HIDDEN, password: HIDDEN });
    expect(argsOf(args, { privateArgs: ['text'] })).toMatchObject({ text: HIDDEN, password: HIDDEN });
    expect(argsOf(args, { privateArgs: undefined })).toMatchObject({ text: 'a', password: HIDDEN });
    expect(argsOf({ text: 'a' }, { forEvidence: () => ({ text: '…' }) })).toEqual({ text: '…' });
    const around = (length: number) => ({ text: 'x'.repeat(length - '{"text":""}'.length) });
    expect(sealArgs(callWith({ args: around(256 * 1024) })).body).not.toBeNull();
    expect(sealArgs(callWith({ args: around(256 * 1024 + 1) })).body).toBeNull();
  });

  it('of a result hides secrets at any depth, and private fields at the top of data and notes', () => {
    const result = {
      status: 'ok',
      data: { text: 'a', token: 'b', inner: { name: 'c' } },
      notes: { text: 'd', name: 'e' },
    };
    expect(resultOf(result)).toEqual({ ...result, data: { ...result.data, token: HIDDEN } });
    expect(resultOf(result, { privateData: ['text', 'name'] })).toEqual({
      status: 'ok',
      data: { text: HIDDEN, token: HIDDEN, inner: { name: 'c' } },
      notes: { text: HIDDEN, name: HIDDEN },
    });
  });

  it('of a result is what it is where it has no fields, whatever is private', () => {
    for (const data of [null, 'text', 7, [{ token: 'b' }]]) {
      const kept = Array.isArray(data) ? [{ token: HIDDEN }] : data;
      for (const privateData of [undefined, ['length', '0']])
        expect(resultOf({ status: 'ok', data }, { privateData })).toEqual({ status: 'ok', data: kept });
    }
    expect(resultOf({ status: 'routed' })).toEqual({ status: 'routed' });
  });

  it('of a result is what the tool gives for it, at most 256 KiB and nothing where it is not kept', () => {
    expect(resultOf({ data: 'a' }, { forEvidence: () => ({ data: '…' }) })).toEqual({ data: '…' });
    const call = callWith();
    const around = (length: number) => ({ data: 'x'.repeat(length - '{"data":""}'.length) });
    expect(sealResult(call, around(256 * 1024), true).body).not.toBeNull();
    expect(sealResult(call, around(256 * 1024 + 1), true).body).toBeNull();
    const unkept = sealResult(call, { data: 'a' }, false);
    expect(unkept.body).toBeNull();
    expect(unkept.hash).toMatch(/^unkept:/);
  });

  it('of an error is its code', () => {
    expect(codeOf({ status: 'failed', fault: new ToolError('conflict', 'Changed.') })).toBe('conflict');
    expect(codeOf(DONE)).toBeUndefined();
  });
});
