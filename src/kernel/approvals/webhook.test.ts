import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Approval, Log } from '../../contract/ports.ts';
import { createWebhook, type WebhookKind, withoutContent } from './webhook.ts';

interface Heard {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

/** What a notification reads of an approval. */
const approval = {
  id: 7,
  uuid: 'u-7',
  tool: 'x_delete_tweet',
  toolkit: 'x',
  effect: 'destroy',
  summary: 'Delete “a secret ”plan” of” by @acme <!channel> *now* (live)',
  requester: { kind: 'agent', id: 'mira' },
  createdAt: new Date('2026-03-09T10:00:00Z'),
} as unknown as Approval;

let server: Server;
let base: string;
let heard: Heard[];
let answers: { status: number; headers?: Record<string, string> }[];
let logged: string[];
const note = (...said: unknown[]): void => void logged.push(JSON.stringify(said));
const log: Log = { debug: note, info: note, warn: note, error: note };

beforeEach(async () => {
  heard = [];
  answers = [];
  logged = [];
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      heard.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(body) });
      const { status, headers = {} } = answers.shift() ?? { status: 200 };
      // Whatever a service replies, it must not be taken for a decision.
      response.writeHead(status, headers).end('{"action":"approve","approval_id":7}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

interface SendOptions {
  token?: string;
  retryMs?: number[];
  inboxUrl?: () => Promise<undefined>;
  of?: Partial<Approval>;
}

const send = (kind: WebhookKind, path: string, more: SendOptions = {}) =>
  createWebhook({
    url: path.startsWith('http') ? path : base + path,
    kind,
    token: more.token,
    log,
    inboxUrl: more.inboxUrl ?? (async (id) => `https://sign.example/inbox/${id}`),
    retryMs: more.retryMs ?? [1, 1],
  })({ ...approval, ...more.of });

const nowhere = async () => undefined;

describe('the approval webhook', () => {
  it('posts what is pending and where to open it as JSON', async () => {
    await send('json', '/hook', { token: 't0ken' });
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({
      path: '/hook',
      headers: { authorization: 'Bearer t0ken' },
      body: {
        event: 'approval_waiting',
        approval_id: 7,
        approval_uuid: 'u-7',
        tool: 'x_delete_tweet',
        toolkit: 'x',
        effect: 'destroy',
        title: 'Delete “…” by @acme <!channel> *now* (live)',
        environment: null,
        requester: 'agent:mira',
        ordered_by: null,
        created_at: '2026-03-09T10:00:00.000Z',
        expires_at: null,
        command: 'countersign approvals show 7',
        url: 'https://sign.example/inbox/7',
      },
    });
  });

  it('posts environment, order and expiry where they are known, and no token where there is none', async () => {
    await send('json', '/hook', {
      inboxUrl: nowhere,
      of: {
        environment: 'live',
        requester: { kind: 'agent', id: 'mira', orderedBy: 'ada' },
        expiresAt: new Date('2026-03-10T10:00:00Z'),
      },
    });
    expect(heard[0]?.body).toMatchObject({
      environment: 'live',
      ordered_by: 'ada',
      expires_at: '2026-03-10T10:00:00.000Z',
      url: null,
    });
    expect(heard[0]?.headers).not.toHaveProperty('authorization');
  });

  it('publishes to a topic of ntfy with a click address', async () => {
    await send('ntfy', '/my-topic?auth=abc');
    expect(heard[0]).toMatchObject({
      path: '/?auth=abc',
      body: {
        topic: 'my-topic',
        title: 'Delete “…” by @acme <!channel> *now* (live)',
        message: 'Approval 7 is pending, requested by agent:mira',
        click: 'https://sign.example/inbox/7',
        priority: 4,
      },
    });
    expect(heard[0]?.body).not.toHaveProperty('actions');
  });

  it('publishes to a topic of ntfy below other paths, with less priority and without an address', async () => {
    await send('ntfy', '/push//my%20topic/', { inboxUrl: nowhere, of: { effect: 'change' } });
    expect(heard[0]).toMatchObject({ path: '/push', body: { topic: 'my topic', priority: 3 } });
    expect(heard[0]?.body).not.toHaveProperty('click');
  });

  it('writes a message for Slack in which nothing becomes a mention', async () => {
    await send('slack', '/services/T/B/x');
    expect(heard[0]?.body).toEqual({
      text: 'Delete “…” by @acme &lt;!channel&gt; *now* (live)\nApproval 7 is pending, requested by agent:mira\n<https://sign.example/inbox/7|Open in the inbox>',
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  it('writes a message for Discord that mentions no one', async () => {
    await send('discord', '/api/webhooks/1/x');
    expect(heard[0]?.body).toEqual({
      content:
        '**Delete “…” by @acme <!channel\\> \\*now\\* \\(live\\)**\nApproval 7 is pending, requested by agent:mira\n<https://sign.example/inbox/7>',
      allowed_mentions: { parse: [] },
    });
  });

  it('names the command where the address of the inbox is not known', async () => {
    await send('slack', '/services/T/B/x', { inboxUrl: nowhere, of: { summary: 'Run a & b' } });
    await send('discord', '/api/webhooks/1/x', { inboxUrl: nowhere, of: { summary: 'Run a_b' } });
    expect(heard.map(({ body }) => body.text ?? body.content)).toEqual([
      'Run a &amp; b\nApproval 7 is pending, requested by agent:mira\ncountersign approvals show 7',
      '**Run a\\_b**\nApproval 7 is pending, requested by agent:mira\ncountersign approvals show 7',
    ]);
  });

  it.each(['json', 'ntfy', 'slack', 'discord'] as const)('sends no content to %s', async (kind) => {
    await send(kind, '/place');
    expect(JSON.stringify(heard)).not.toContain('secret');
    expect(JSON.stringify(heard)).not.toContain('plan');
  });

  it('tries again after a failure of the service, three times at most', async () => {
    answers = [{ status: 503 }, { status: 429, headers: { 'retry-after': '0' } }, { status: 200 }];
    await send('json', '/hook');
    expect(heard).toHaveLength(3);
    expect(logged).toEqual([]);
    answers = Array.from({ length: 9 }, () => ({ status: 500 }));
    await send('json', '/hook');
    expect(heard).toHaveLength(6);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('"reason":"HTTP 500","attempts":3');
  });

  it('gives up immediately when the request is refused, and when the service wants a long wait', async () => {
    answers = [{ status: 404 }, { status: 429, headers: { 'retry-after': '3600' } }];
    await send('json', '/hook');
    expect(heard).toHaveLength(1);
    await send('json', '/hook');
    expect(heard).toHaveLength(2);
    answers = [{ status: 503, headers: { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' } }];
    await send('json', '/hook', { retryMs: [31_000] });
    expect(heard).toHaveLength(3);
    expect(logged.map((line) => JSON.parse(line)[1])).toEqual([
      { approval: 7, kind: 'json', reason: 'HTTP 404', attempts: 1 },
      { approval: 7, kind: 'json', reason: 'HTTP 429', attempts: 1 },
      { approval: 7, kind: 'json', reason: 'HTTP 503', attempts: 1 },
    ]);
  });

  it('takes an answer without content for success', async () => {
    answers = [{ status: 204 }];
    await send('json', '/hook');
    expect(heard).toHaveLength(1);
    expect(logged).toEqual([]);
  });

  it('tries again when the service cannot be reached, and logs a code or a name as the reason', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    try {
      fetched.mockRejectedValueOnce(new TypeError('fetch failed'));
      await send('json', '/hook');
      expect(heard).toHaveLength(1);
      expect(logged).toEqual([]);
      const coded = (code: unknown) => new Error('s3cret', { cause: Object.assign(new Error(), { code }) });
      for (const error of [
        coded('ECONNREFUSED'),
        coded(5),
        new DOMException('s3cret', 'TimeoutError'),
        new Error('s3cret', { cause: { code: 's3cret' } }),
        's3cret',
        { cause: new Error() },
      ]) {
        fetched.mockRejectedValueOnce(error);
        await send('json', '/hook', { retryMs: [] });
      }
      expect(logged.map((line) => JSON.parse(line)[1].reason)).toEqual([
        'ECONNREFUSED',
        'Error',
        'TimeoutError',
        'Error',
        'unknown',
        'unknown',
      ]);
      for (const [, init] of fetched.mock.calls) expect(init?.signal).toBeInstanceOf(AbortSignal);
    } finally {
      fetched.mockRestore();
    }
  });

  it('waits 1 s and 5 s, or 30 s at most where the service asks for it, and keeps no process alive', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    // Not a spy: vi.restoreAllMocks() of a later file would bring the fake clock back.
    const fake = globalThis.setTimeout;
    const timers: [unknown, NodeJS.Timeout][] = [];
    globalThis.setTimeout = ((...given: Parameters<typeof setTimeout>) => {
      const timer = fake(...given);
      timers.push([given[1], timer]);
      return timer;
    }) as typeof setTimeout;
    const answer = (status: number, headers = {}) => new Response(null, { status, headers });
    const fetched = vi
      .spyOn(globalThis, 'fetch')
      .mockImplementation(async () => answer(500))
      .mockResolvedValueOnce(answer(429, { 'retry-after': '30' }))
      .mockResolvedValueOnce(answer(200));
    try {
      const post = createWebhook({ url: base, kind: 'json', token: undefined, log, inboxUrl: nowhere });
      const patient = post(approval);
      await vi.advanceTimersByTimeAsync(30_000);
      await patient;
      expect(fetched).toHaveBeenCalledTimes(2);
      expect(logged).toEqual([]);
      const failing = post(approval);
      await vi.advanceTimersByTimeAsync(6_000);
      await failing;
      expect(fetched).toHaveBeenCalledTimes(5);
      expect(logged).toHaveLength(1);
      const waits = timers.map(([ms, timer]) => [ms, timer.hasRef()]);
      // Connections of the tests before may have timers of their own.
      for (const ms of [30_000, 1_000, 5_000]) expect(waits).toContainEqual([ms, false]);
    } finally {
      fetched.mockRestore();
      globalThis.setTimeout = fake;
      vi.useRealTimers();
    }
  });

  it('follows no redirect and keeps its address and token out of the log', async () => {
    answers = [
      { status: 302, headers: { location: `${base}/elsewhere` } },
      { status: 302, headers: { location: `${base}/elsewhere` } },
    ];
    await send('slack', '/services/T/B/s3cret', { token: 't0ken', retryMs: [1] });
    expect(heard.every(({ path }) => path === '/services/T/B/s3cret')).toBe(true);
    await send('slack', 'http://127.0.0.1:1/services/T/B/s3cret', { token: 't0ken', retryMs: [] });
    expect(logged).toHaveLength(2);
    expect(logged.join()).not.toMatch(/s3cret|t0ken/);
  });
});

it('takes everything quoted out of a title, quotes within quotes included', () => {
  expect(withoutContent('Delete “a ”b” c” by @acme (live)')).toBe('Delete “…” by @acme (live)');
  expect(withoutContent('Post to @acme (live)')).toBe('Post to @acme (live)');
});
