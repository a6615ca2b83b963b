import { afterEach, describe, expect, it } from 'vitest';
import { ENGINES, freshPostgres } from '../support/engines.ts';
import { openScripted, reader, type ScriptedPlace, tool } from './scripted.ts';
import { serve } from './support.ts';

let place: ScriptedPlace;
afterEach(() => place.close());

describe.each(ENGINES)('the gateway on %s', (engine) => {
  const open = async (...args: Parameters<typeof openScripted>): Promise<ScriptedPlace> => {
    const [script, settings = ''] = args;
    const env: Record<string, string> =
      engine === 'postgres' ? { COUNTERSIGN_STORAGE__URL: await freshPostgres() } : {};
    return openScripted(script, settings, env);
  };

  it('trusts, lists, calls and refuses a changed definition', async () => {
    place = await open({ tools: [reader('look'), tool('act')] });
    expect(place.app.database.engine).toBe(engine);
    await place.trust('s');
    const gateway = await serve(place.app, ['s']);
    const client = await gateway.connect();
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('s__look');
    const { content } = await client.callTool({ name: 's__look', arguments: { text: 'x' } });
    expect(content).toEqual([{ type: 'text', text: 'done' }]);
    await client.close();
    await gateway.close();
    place.script({ tools: [reader('look', { description: 'Another.' }), tool('act')] });
    await place.reopen();
    expect((await place.call('s__look', {})).outcome).toMatchObject({
      fault: { code: 'definition_changed' },
    });
    expect((await place.call('s__act', { text: 'y' })).outcome.status).toBe('ok');
    const waiting = await place.app.kernel.approvals.list({ tools: ['server_trust'], states: ['pending'] });
    expect(waiting).toHaveLength(1);
  });

  it('leaves a change without an answer indeterminate, and a person settles it', async () => {
    place = await open({ tools: [tool('act')], answers: { act: { exit: 1 } } });
    await place.trust('s');
    const { outcome, callId } = await place.call('s__act', { text: 'once' }, { idempotencyKey: 'k' });
    expect(outcome.status).toBe('indeterminate');
    expect(await place.app.kernel.settle(callId, true, { kind: 'person', id: 'ada' })).toBe(true);
    const again = await place.call('s__act', { text: 'once' }, { idempotencyKey: 'k' });
    expect(again.outcome).toMatchObject({ status: 'ok', replayed: true });
    expect(place.calls()).toHaveLength(1);
  });

  it('cuts a long result and reads the rest from the artifact', async () => {
    const text = 'y'.repeat(5000);
    const answers = { look: { result: { content: [{ type: 'text', text }] } } };
    place = await open({ tools: [reader('look')], answers }, 'max_result_kb = 1\n');
    await place.trust('s');
    const { outcome } = await place.call('s__look', {});
    const artifact = /sha256:[0-9a-f]{64}/.exec(JSON.stringify(outcome))?.[0] ?? '';
    const rest = await place.call('gateway_result_read', { artifact });
    expect(JSON.stringify(rest.outcome)).toContain(text);
  });
});
