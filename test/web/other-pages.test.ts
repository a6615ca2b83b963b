import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, startWeb, type WebServer } from './support.ts';

/** What a page can send without asking the server first, and what needs a preflight. */
const ATTEMPTS = async ({
  url,
  tcp,
  link,
}: {
  url: string;
  tcp: string;
  link: string;
}): Promise<string[]> => {
  const body = '{"arguments":{"text":"From another page"}}';
  const rpc = `${JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'x_post_tweet', arguments: { text: 'From another page' } },
  })}\n`;
  const places = [
    { address: `${url}/tools/x_post_tweet`, text: body },
    { address: `${url}/mcp`, text: rpc },
    // A long first line must not hide what follows it.
    { address: `${tcp}/`, text: rpc },
    { address: `${tcp}/${'x'.repeat(1_200_000)}`, text: rpc },
  ];
  const read: string[] = [];
  const tryOne = (address: string, init: RequestInit) =>
    fetch(address, { ...init, signal: AbortSignal.timeout(3_000) })
      .then(async (response) => response.type !== 'opaque' && read.push(await response.text()))
      .catch(() => {});
  for (const { address, text } of places) {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json'])
      for (const mode of ['cors', 'no-cors'] as const)
        await tryOne(address, { method: 'POST', mode, headers: { 'content-type': type }, body: text });
    await tryOne(address, { method: 'POST', mode: 'no-cors', body: new Blob([text]) });
    await tryOne(address, { method: 'POST', mode: 'no-cors' });
    navigator.sendBeacon(address, text);
    navigator.sendBeacon(address, new Blob([text], { type: 'text/plain' }));
    // A form whose one field is the text: name, "=" and value are what is sent.
    const [name = '', value = ''] = [text.slice(0, -3), text.slice(-3)];
    await new Promise<void>((done) => {
      const frame = document.createElement('iframe');
      frame.name = `f${Math.random()}`;
      const form = document.createElement('form');
      form.action = address;
      form.method = 'post';
      form.enctype = 'text/plain';
      form.target = frame.name;
      const field = document.createElement('input');
      field.name = name;
      field.value = value;
      form.append(field);
      document.body.append(frame, form);
      frame.onload = () => done();
      setTimeout(done, 1_500);
      form.submit();
    });
  }
  for (const address of [link, `${url}/tools`, `${url}/tools/x_post_tweet?text=hi`, `${url}/mcp`])
    await Promise.all(
      (['img', 'iframe', 'script', 'object'] as const).map(
        (kind) =>
          new Promise<void>((done) => {
            const element = document.createElement(kind);
            element.onload = () => done();
            element.onerror = () => done();
            setTimeout(done, 1_500);
            if (kind === 'object') (element as HTMLObjectElement).data = address;
            else (element as HTMLImageElement).src = address;
            document.body.append(element);
          }),
      ),
    );
  await tryOne(link, { mode: 'no-cors' });
  return read;
};

describe('a page on another port of this computer', () => {
  let web: WebServer;
  let browser: Browser;
  let other: Server;
  let tcpPort: number;

  beforeAll(async () => {
    const probe = createServer();
    await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done));
    tcpPort = (probe.address() as AddressInfo).port;
    await new Promise((done) => probe.close(done));
    web = await startWeb({ toolkits: 'x', config: `[server]\ntcp = "127.0.0.1:${tcpPort}"\n` });
    browser = await launchBrowser();
    other = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><body></body>');
    });
    // Without an address it listens on 127.0.0.1 and ::1.
    await new Promise<void>((done) => other.listen(0, done));
  });
  afterAll(async () => {
    await browser?.close();
    other?.closeAllConnections();
    other?.close();
    await web?.close();
  });

  /** Calls of the tool that pages try, refused ones included; the server's own loops call others. */
  const calls = async (): Promise<unknown[]> => {
    const { tools } = JSON.parse(await web.cli('--json', 'stats')) as { tools: { tool: string }[] };
    return tools.filter(({ tool }) => tool === 'x_post_tweet');
  };

  it.each(['127.0.0.1', 'localhost'])('runs nothing from %s, whatever it sends', async (name) => {
    const page = await browser.newPage();
    await page.goto(`http://${name}:${(other.address() as AddressInfo).port}/`);
    const { port } = new URL(web.url);
    const link = await web.link();
    const { search } = new URL(link);
    const read = await page.evaluate(ATTEMPTS, {
      url: `http://${name}:${port}`,
      tcp: `http://${name === 'localhost' ? '127.0.0.1' : 'localhost'}:${tcpPort}`,
      link: `http://${name}:${port}/sign-in${search}`,
    });
    expect(read).toEqual([]);
    await page.close();
    expect(await calls()).toEqual([]);
    // The link was not spent; a page that leads there as a person would follow it still works.
    const context = await browser.newContext();
    const linking = await context.newPage();
    await linking.goto(`http://${name}:${(other.address() as AddressInfo).port}/`);
    await linking.evaluate((to) => location.assign(to), link);
    await linking.locator('#main').waitFor();
    await context.close();
  });
});
