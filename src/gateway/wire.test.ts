import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { fetchRepaired, originalResult, repairMessage, shieldResult, UNREADABLE } from './wire.ts';

const answer = (result: unknown) => ({ jsonrpc: '2.0' as const, id: 1, result }) as never;

describe('a result that the SDK would refuse', () => {
  it.each([
    ['of an unknown kind of content', { content: [{ type: 'hologram' }], novel: 1 }],
    ['that is a task', { resultType: 'task', taskId: 't', status: 'working' }],
  ])('%s passes through it unchanged', (_what, result) => {
    const shown = shieldResult(answer(result)) as { result: Record<string, unknown> };
    expect(shown.result).toMatchObject({ resultType: 'complete', content: [] });
    // The SDK copies a result field by field on its way.
    expect(originalResult({ ...shown.result } as never)).toEqual(result);
  });

  it('is left alone where it is a question or a list', () => {
    for (const result of [{ resultType: 'input_required', requestState: 's' }, { tools: [] }])
      expect(shieldResult(answer(result))).toEqual(answer(result));
  });

  it('loses a type that only modern connections have', () => {
    const shown = shieldResult(answer({ resultType: 'complete', content: [] })) as { result: object };
    expect(originalResult(shown.result as never)).toEqual({ content: [] });
  });
});

describe('an answer that is none', () => {
  it.each([[null], ['yes'], [[]]])('%j becomes an error', (result) => {
    expect(repairMessage(answer(result))).toMatchObject({ error: { code: UNREADABLE } });
  });

  it('becomes an error where it does not name the protocol, so that no one waits for it', () => {
    expect(repairMessage({ id: 1, result: {} })).toMatchObject({ id: 1, error: { code: UNREADABLE } });
    expect(repairMessage({ id: 1 })).toBeUndefined();
  });
});

describe('answers over HTTP', () => {
  let close: (() => void) | undefined;
  afterEach(() => close?.());

  async function serveText(type: string, chunks: readonly string[]): Promise<string> {
    const server = createServer(async (_request, response) => {
      response.writeHead(200, { 'content-type': type });
      for (const chunk of chunks) {
        response.write(chunk);
        await new Promise((done) => setTimeout(done, 5));
      }
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    close = () => server.close();
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  it.each(['application/json', 'text/event-stream'])('of %s without end are cut off', async (type) => {
    const part = 'x'.repeat(33 * 1024 * 1024);
    const url = await serveText(type, [`data: {${part}`, part]);
    await expect(fetchRepaired(url).then((response) => response.text())).rejects.toThrow('larger than 64 MB');
  });

  const broken = '{"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":null}}';
  const whole = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';

  it('are repaired as a whole', async () => {
    const reply = await fetchRepaired(await serveText('application/json', [broken]));
    expect(await reply.text()).toBe(whole);
  });

  it('are repaired in a stream of events, wherever it is cut, and everything else stays', async () => {
    const note = 'event: message\nid: 7\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n: ping\n\n';
    const text = `${note}data: ${broken}\n\n`;
    const chunks = [text.slice(0, 30), text.slice(30, 110), text.slice(110)];
    const reply = await fetchRepaired(await serveText('text/event-stream', chunks));
    expect(await reply.text()).toBe(`${note}data: ${whole}\n\n`);
  });
});
