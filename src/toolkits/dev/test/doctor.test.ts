import { createVerify, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../../../../test/cli/support.ts';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly fix?: string;
}

describe('doctor on GitHub', () => {
  let terminal: Terminal;
  let server: Server;
  let url: string;
  let asked: { path: string | undefined; headers: IncomingHttpHeaders }[];
  let answer: { status: number; headers?: Record<string, string>; body: object };

  beforeEach(async () => {
    terminal = openTerminal();
    asked = [];
    server = createServer((request, response) => {
      asked.push({ path: request.url, headers: request.headers });
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      response.end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    terminal.close();
    server.closeAllConnections();
    server.close();
  });

  const configure = (github: string, forge = 'github') =>
    terminal.configure(`[dev]\nforge = "${forge}"\n[dev.github]\nbase_url = "${url}"\n${github}\n`);
  const finding = async () => {
    const { findings } = await terminal.json<{ findings: Finding[] }>('doctor');
    return findings.find(({ check }) => check === 'github');
  };
  const TOKEN = 'ghp_secret_of_this_test';

  it('names the account and the scopes of a token that can be used', async () => {
    configure(`token = "${TOKEN}"`);
    answer = { status: 200, headers: { 'x-oauth-scopes': 'repo, gist' }, body: { login: 'octocat' } };
    const found = await finding();
    expect(found).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('as octocat with the scopes repo, gist'),
    });
    expect(asked).toMatchObject([{ path: '/user', headers: { authorization: `Bearer ${TOKEN}` } }]);
  });

  it('fails for a token without the scope repo and says what to create', async () => {
    configure(`token = "${TOKEN}"`);
    answer = { status: 200, headers: { 'x-oauth-scopes': 'gist' }, body: { login: 'octocat' } };
    expect(await finding()).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('lacks the scope repo (it has: gist)'),
      fix: expect.stringContaining('scope repo'),
    });
  });

  it('accepts a fine-grained token, which lists no scopes', async () => {
    configure(`token = "${TOKEN}"`);
    answer = { status: 200, body: { login: 'octocat' } };
    expect(await finding()).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('does not list its permissions'),
    });
  });

  it('fails for credentials that GitHub rejects, without repeating them', async () => {
    configure(`token = "${TOKEN}"`);
    answer = { status: 401, body: { message: 'Bad credentials' } };
    const { code, out } = await terminal.run('doctor');
    expect(code).toBe(1);
    expect(out).toContain('does not accept the credentials (401)');
    expect(out).toContain('GITHUB_TOKEN');
    expect(out).not.toContain(TOKEN);
  });

  it('fails where no credentials are set or GitHub cannot be reached', async () => {
    configure('');
    expect(await finding()).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('No credentials'),
    });
    expect(asked).toEqual([]);
    configure(`token = "${TOKEN}"`);
    await new Promise((resolve) => server.close(resolve));
    expect(await finding()).toMatchObject({ status: 'fail', fix: expect.stringContaining('network') });
  });

  it('identifies an App by a signed token', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const path = join(terminal.home, 'app.pem');
    writeFileSync(path, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
    configure(`app_id = "77"\nprivate_key_path = ${JSON.stringify(path)}`);
    answer = { status: 200, body: { slug: 'countersign-bot' } };
    expect(await finding()).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('as the App countersign-bot'),
    });
    const token = asked[0]?.headers.authorization?.replace('Bearer ', '') ?? '';
    const [head = '', payload = '', signature = ''] = token.split('.');
    expect(asked[0]?.path).toBe('/app');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ iss: '77' });
    expect(
      createVerify('RSA-SHA256').update(`${head}.${payload}`).verify(publicKey, signature, 'base64url'),
    ).toBe(true);
  });

  it('asks nothing where GitHub is not used', async () => {
    configure(`token = "${TOKEN}"`, 'local');
    expect(await finding()).toBeUndefined();
    expect(asked).toEqual([]);
  });
});
