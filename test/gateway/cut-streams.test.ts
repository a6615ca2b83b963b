import { afterEach, describe, expect, it } from 'vitest';
import {
  answer,
  begin,
  openEventServer,
  openRawServer,
  type RawCall,
  type RawServer,
} from './http-raw-server.ts';
import { reader, tool } from './scripted.ts';
import { httpServer, openPlace, type Place } from './support.ts';

let place: Place;
let server: RawServer;
afterEach(async () => {
  await place.close();
  await server.close();
});

const tools = [reader('look'), tool('act')];

async function open(
  era: 'legacy' | 'modern',
  onCall: (call: RawCall, count: number) => void,
  onResume?: Parameters<typeof openRawServer>[3],
): Promise<void> {
  server = await openRawServer(era, tools, onCall, onResume);
  place = await openPlace(`${httpServer('s', server.url)}timeout_seconds = 30\n`);
  await place.trust('s');
}

/** How the call ended, and that it did not wait for its deadline. */
async function promptly(name: string): Promise<unknown> {
  const began = Date.now();
  const { outcome } = await place.call(name, {});
  expect(Date.now() - began).toBeLessThan(10_000);
  return outcome;
}

const ways: Record<string, (call: RawCall) => void> = {
  'cuts its stream': (call) => {
    begin(call);
    setTimeout(() => call.response.destroy(), 20);
  },
  'ends its stream without an answer': (call) => {
    begin(call);
    call.response.end();
  },
  'cuts the connection before any answer': ({ request }) => request.socket.destroy(),
  'cuts an answer in JSON': ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"jsonrpc":');
    setTimeout(() => response.destroy(), 20);
  },
};

describe.each(['legacy', 'modern'] as const)('a %s HTTP server', (era) => {
  it.each(Object.keys(ways))('that %s leaves a change indeterminate immediately, sent once', async (way) => {
    await open(era, (call) => ways[way]?.(call));
    expect(await promptly('s__act')).toMatchObject({ status: 'indeterminate' });
    expect(server.called).toEqual(['act']);
  });

  it.each(Object.keys(ways))('that %s is asked a second time for a read', async (way) => {
    await open(era, (call, count) => {
      if (count === 1) return ways[way]?.(call);
      begin(call, answer(call.id));
      call.response.end();
    });
    expect(await promptly('s__look')).toMatchObject({ status: 'ok', data: { content: [{ text: 'done' }] } });
    expect(server.called).toEqual(['look', 'look']);
  });

  it('that cuts every answer to a read is named, after two attempts', async () => {
    await open(era, (call) => ways['cuts its stream']?.(call));
    expect(await promptly('s__look')).toMatchObject({
      status: 'failed',
      fault: { code: 'server_unavailable', message: 'The server s gave no answer.' },
    });
    expect(server.called).toEqual(['look', 'look']);
  });

  it('that lets streams be resumed is, and nothing is sent again', async () => {
    let id = 0;
    await open(
      era,
      (call) => {
        id = call.id;
        begin(call, 'retry: 20\nid: first\ndata:\n\n');
        setTimeout(() => call.response.destroy(), 20);
      },
      (_after, response) => {
        begin({ response }, answer(id, 'resumed', 'id: second\n'));
        response.end();
      },
    );
    expect(await promptly('s__act')).toMatchObject({
      status: 'ok',
      data: { content: [{ text: 'resumed' }] },
    });
    expect(server.called).toEqual(['act']);
    expect(server.resumed).toEqual(['first']);
  });

  it('that promises to be resumed and refuses it leaves a change indeterminate', async () => {
    await open(
      era,
      (call) => {
        begin(call, 'retry: 20\nid: first\ndata:\n\n');
        setTimeout(() => call.response.destroy(), 20);
      },
      (_after, response) => void response.writeHead(404).end(),
    );
    expect(await promptly('s__act')).toMatchObject({ status: 'indeterminate' });
    expect(server.called).toEqual(['act']);
  });
});

describe('a server of the older transport that cuts its one stream', () => {
  const open = async (): Promise<void> => {
    server = await openEventServer(tools);
    place = await openPlace(`${httpServer('s', server.url)}transport = "sse"\ntimeout_seconds = 30\n`);
    await place.trust('s');
  };

  it('leaves a change indeterminate immediately, sent once', async () => {
    await open();
    expect(await promptly('s__act')).toMatchObject({ status: 'indeterminate' });
    expect(server.called).toEqual(['act']);
  });

  it('is asked a second time for a read, on a new connection', async () => {
    await open();
    expect(await promptly('s__look')).toMatchObject({ status: 'ok', data: { content: [{ text: 'done' }] } });
    expect(server.called).toEqual(['look', 'look']);
  });
});

it('a server that is resumed without end is not asked in a tight loop, nor after the deadline', async () => {
  server = await openRawServer(
    'legacy',
    tools,
    (call) => {
      begin(call, 'retry: 0\nid: first\ndata:\n\n');
      call.response.end();
    },
    (_after, response) => {
      begin({ response }, 'retry: 0\nid: first\ndata:\n\n');
      response.end();
    },
  );
  place = await openPlace(`${httpServer('s', server.url)}timeout_seconds = 2\n`);
  await place.trust('s');
  expect((await place.call('s__act', {})).outcome).toMatchObject({ status: 'indeterminate' });
  const asked = server.resumed.length;
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(25);
  await new Promise((done) => setTimeout(done, 600));
  expect(server.resumed.length - asked).toBeLessThanOrEqual(1);
});
