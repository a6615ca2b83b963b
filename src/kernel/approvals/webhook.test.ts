import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

const send = (kind: WebhookKind, path: string, more: { token?: string; retryMs?: number[] } = {}) =>
  createWebhook({
    url: path.startsWith('http') ? path : base + path,
    kind,
    token: more.token,
    log,
    inboxUrl: async (id) => `https://sign.example/inbox/${id}`,
    retryMs: more.retryMs ?? [1, 1],
  })(approval);

describe('the approval webhook', () => {
  it('posts what is pending and where to open it as JSON', async () => {
    await send('json', '/hook', { token: 't0ken' });
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({
      path: '/hook',
      headers: { authorization: 'Bearer t0ken' },
      body: { event: 'approval_waiting', approval_id: 7, url: 'https://sign.example/inbox/7' },
    });
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
    expect(heard[0]?.body).toMatchObject({ allowed_mentions: { parse: [] } });
    expect(heard[0]?.body.content).toContain('\\*now\\*');
    expect(heard[0]?.body.content).toContain('<https://sign.example/inbox/7>');
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
