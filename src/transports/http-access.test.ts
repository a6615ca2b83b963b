import { describe, expect, it } from 'vitest';
import { LOCAL_AGENT, type Principal } from '../contract/principal.ts';
import { openDoor } from './http-access.ts';
import type { Served } from './served.ts';

const ROBIN: Principal = { kind: 'agent', id: 'robin' };
const served = {
  authenticate: async (token: string) => (token === 'right' ? ROBIN : undefined),
} as unknown as Served;
const request = (headers: Record<string, string>) => ({ headers: new Headers(headers) });
const LOCAL = { host: 'localhost:7007' };

/** The reply as status, code, text and challenge; undefined when the door lets the request in. */
const refusal = async (response: Response | undefined) =>
  response && {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    ...((await response.json()) as object),
  };

describe('the address of a request', () => {
  const door = openDoor(served, { host: '127.0.0.1', allowedHosts: ['inbox.example'] });
  const foreign = { status: 403, challenge: null, success: false, error_code: 'FORBIDDEN' };

  it.each(['localhost', 'countersign.localhost', '127.0.0.1', '[::1]', 'inbox.example'])(
    'may be %s, with any port, time after time',
    (name) => {
      for (const host of [name, `${name}:7007`, name, name])
        expect(door.checkAddress(request({ host }))).toBeUndefined();
    },
  );

  it('may not be a foreign name, also after one that was allowed', async () => {
    expect(door.checkAddress(request(LOCAL))).toBeUndefined();
    for (const host of ['evil.example', 'localhost.evil.example'])
      expect(await refusal(door.checkAddress(request({ host })))).toEqual({
        ...foreign,
        error: 'Host not allowed.',
      });
    expect((await refusal(door.checkAddress(request({}))))?.status).toBe(403);
  });

  it('must be given, also by the first who asks', () => {
    const fresh = openDoor(served, { host: '127.0.0.1' });
    expect(fresh.checkAddress(request({}))?.status).toBe(403);
  });

  const from = (origin: string, at = door, host = LOCAL.host) => at.checkAddress(request({ host, origin }));

  it('is that of the page too, where a page sends it: scheme, name and port', async () => {
    for (const host of ['localhost:7007', '127.0.0.1:7007', '[::1]:7007', 'inbox.example:8443'])
      expect(from(`http://${host}`, door, host)).toBeUndefined();
    expect(from('https://inbox.example')).toBeUndefined();
    expect(from('https://inbox.example:8443', door, 'inbox.example:8443')).toBeUndefined();
    for (const origin of [
      'https://evil.example',
      'http://localhost:5173',
      'http://localhost',
      'http://127.0.0.1:7007',
      'http://countersign.localhost:7007',
      'https://inbox.example:8443',
      'http://localhost:7007/',
      'http://user@localhost:7007',
      'null',
      '',
    ])
      expect(await refusal(from(origin)), origin).toEqual({ ...foreign, error: 'Origin not allowed.' });
  });

  it('is the public address with its scheme and port, and no other service of that host', () => {
    const open = openDoor(served, { host: '127.0.0.1', publicUrl: 'https://sign.example:8443/inbox' });
    for (const host of [LOCAL.host, 'sign.example:8443']) {
      expect(from('https://sign.example:8443', open, host)).toBeUndefined();
      for (const origin of ['http://sign.example:8443', 'https://sign.example', 'http://sign.example'])
        expect(from(origin, open, host)?.status, origin).toBe(403);
    }
  });

  it.each([
    ['POST', 'same-origin', 'cors', 'empty', undefined],
    ['GET', 'none', 'navigate', 'document', undefined],
    ['GET', 'cross-site', 'navigate', 'document', undefined],
    ['HEAD', 'same-site', 'navigate', 'document', undefined],
    ['POST', 'cross-site', 'navigate', 'document', 403],
    ['GET', 'same-site', 'navigate', 'iframe', 403],
    ['GET', 'same-site', 'no-cors', 'image', 403],
    ['GET', 'cross-site', 'cors', 'document', 403],
    ['GET', 'something-new', 'no-cors', 'empty', 403],
  ])(
    'without an Origin is judged by what the browser says: %s %s %s %s',
    (method, site, mode, dest, status) => {
      const headers = { ...LOCAL, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest };
      expect(door.checkAddress({ method, ...request(headers) })?.status).toBe(status);
    },
  );

  it('is trusted with an Origin of its own, whatever else the browser says', () => {
    const headers = { ...LOCAL, origin: 'https://inbox.example', 'sec-fetch-site': 'cross-site' };
    expect(door.checkAddress({ method: 'POST', ...request(headers) })).toBeUndefined();
  });

  it('is the own name of a server that listens to other machines', () => {
    const open = openDoor(served, { host: 'box.example' });
    expect(open.checkAddress(request({ host: 'box.example:7007' }))).toBeUndefined();
    expect(door.checkAddress(request({ host: 'box.example:7007' }))?.status).toBe(403);
  });
});

describe('the sender of a request', () => {
  const door = openDoor(served, { host: '127.0.0.1', allowedHosts: ['inbox.example'] });
  const missing = {
    status: 401,
    challenge: 'Bearer',
    success: false,
    error_code: 'UNAUTHORIZED',
    error: 'An agent token is required: Authorization: Bearer …',
  };
  const identify = async (headers: Record<string, string>, at = door) => {
    const who = await at.identify(request({ ...LOCAL, ...headers }));
    return who instanceof Response ? refusal(who) : who;
  };

  it('is the local agent on this machine, and the agent of a token anywhere', async () => {
    expect(await identify({})).toEqual(LOCAL_AGENT);
    for (const authorization of ['Bearer right', 'bearer right'])
      expect(await identify({ authorization, host: 'inbox.example' })).toEqual(ROBIN);
  });

  it.each([
    'Bearer wrong',
    'Basic cm9iaW46cmlnaHQ=',
    'xBearer right',
    'Bearer right now',
    'Bearer  right',
    'right',
  ])('is no one with %j', async (authorization) => {
    expect(await identify({ authorization })).toEqual({
      ...missing,
      error: 'The token is invalid or revoked.',
    });
  });

  it.each([
    'forwarded',
    'via',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-real-ip',
    'x-client-ip',
    'true-client-ip',
    'cf-connecting-ip',
  ])('needs a token where %s shows that something stands between', async (name) => {
    expect(await identify({ accept: '*/*', [name]: '203.0.113.7' })).toEqual(missing);
  });

  it('is not taken for forwarded by a header that only looks alike', async () => {
    for (const name of ['x-via', 'viable', 'x-forwarded-', 'not-forwarded', 'x-real-ip-too'])
      expect(await identify({ [name]: '203.0.113.7' })).toEqual(LOCAL_AGENT);
  });

  it('needs a token under a name that is not of this machine, or where the server listens to others', async () => {
    expect(await identify({ host: 'inbox.example' })).toEqual(missing);
    expect(await identify({}, openDoor(served, { host: '0.0.0.0' }))).toEqual(missing);
    const nameless = await openDoor(served, { host: '127.0.0.1' }).identify(request({}));
    expect(nameless).toHaveProperty('status', 401);
  });
});
