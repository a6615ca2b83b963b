import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContext, CDPSession, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apiBase, decide, launchBrowser, startWeb, type WebServer } from './support.ts';

const CONFIG = `
[mcp_policy]
max_mutations_per_hour = 1000
require_approval_for = ["compose_tweet", "x_post_thread"]
[[mcp_policy.rules]]
id = "two-people"
tools = ["x_post_thread"]
action = "ask"
signers = 2
`;

/** What an authenticator holds, as the browser's protocol gives and takes it. */
interface Held {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly privateKey: string;
  readonly signCount: number;
}

interface Shown {
  readonly id: number;
  readonly state: string;
}

interface ToSign {
  readonly nonce: string;
  readonly challenge: string;
  readonly allow: readonly string[];
  readonly rp_id: string;
}

/** Lets the authenticator sign what the server asked for, on whichever page this is. */
const signIn = (page: Page, request: ToSign) =>
  page.evaluate(async ({ nonce, challenge, allow, rp_id }) => {
    const decode = (text: string) =>
      Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
    const encode = (bytes: ArrayBuffer) =>
      btoa(String.fromCharCode(...new Uint8Array(bytes)))
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replaceAll('=', '');
    const given = (await navigator.credentials.get({
      publicKey: {
        challenge: decode(challenge),
        rpId: rp_id,
        allowCredentials: allow.map((id) => ({ type: 'public-key' as const, id: decode(id) })),
        userVerification: 'required',
      },
    })) as PublicKeyCredential;
    const response = given.response as AuthenticatorAssertionResponse;
    return {
      nonce,
      credential: encode(given.rawId),
      authenticatorData: encode(response.authenticatorData),
      clientData: encode(response.clientDataJSON),
      signature: encode(response.signature),
    };
  }, request);

/** A command of the built product on a terminal of its own. */
function startTerminal(command: string, { home, url }: WebServer) {
  const env = { ...process.env, COUNTERSIGN_HOME: home, COUNTERSIGN_SERVER__PORT: new URL(url).port };
  // Without `exec` a shell that waits would answer Ctrl-C with a code of its own.
  const line = `exec ${process.execPath} ${resolve(process.env.TEST_DIST ?? 'dist', 'main.js')} ${command}`;
  const child = spawn('script', ['-qefc', line, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    ended: new Promise<number | null>((done) => child.once('close', done)),
    press: (keys: string) => child.stdin.write(keys),
    kill: () => child.kill('SIGKILL'),
    shows: (wanted: string) => expect.poll(() => text, { timeout: 60_000 }).toContain(wanted),
  };
}

// A real browser with Chromium's own virtual authenticators: what a person does with a key, without the key.
describe('passkeys in the browser', { timeout: 120_000 }, () => {
  let server: WebServer;
  let browser: Browser;
  let page: Page;
  let context: BrowserContext;
  let cdp: CDPSession;
  /** Every authenticator there is; the credentials of one that is unplugged are kept here. */
  const keys: { at: string | undefined; credentials: Held[] }[] = [];
  type Key = (typeof keys)[number];

  const insert = async (key: Key): Promise<void> => {
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'usb',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    key.at = authenticatorId;
    for (const credential of key.credentials)
      await cdp.send('WebAuthn.addCredential', { authenticatorId, credential });
  };
  const unplug = async (key: Key): Promise<void> => {
    const { at: authenticatorId } = key;
    if (authenticatorId === undefined) return;
    ({ credentials: key.credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId }));
    await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    key.at = undefined;
  };
  /** Only this one is plugged in: of several, the browser may take the answer of one that was not meant. */
  const only = async (key?: Key): Promise<void> => {
    for (const one of keys) if (one !== key) await unplug(one);
    if (key && key.at === undefined) await insert(key);
  };
  const plug = async (): Promise<Key> => {
    const key: Key = { at: undefined, credentials: [] };
    keys.push(key);
    await only(key);
    return key;
  };

  beforeAll(async () => {
    server = await startWeb({ config: CONFIG });
    browser = await launchBrowser();
    ({ page, context } = await server.signIn(browser));
    // A person has two minutes; a test does not.
    await page.addInitScript(() => {
      const ask = navigator.credentials.get.bind(navigator.credentials);
      navigator.credentials.get = (options) => {
        if (options?.publicKey) options.publicKey.timeout = 8_000;
        return ask(options);
      };
    });
    cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const enrol = async (name: string, person?: string) => {
    await page.goto(`${server.url}/passkeys`);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the passkey').fill(name);
    if (person) await dialog.getByLabel('Person').fill(person);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog', { name: 'Passkey enrolled' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
  };
  const ask = async (tool: string, args: object): Promise<number> => {
    await server.call(tool, args);
    const all = JSON.parse(await server.cli('--json', 'approvals')) as Shown[] | { approvals: Shown[] };
    const pending = (Array.isArray(all) ? all : all.approvals).filter(({ state }) => state === 'pending');
    return Math.max(...pending.map(({ id }) => id));
  };
  const stateOf = async (id: number): Promise<string> =>
    (JSON.parse(await server.cli('--json', 'approvals', 'show', String(id))) as Shown).state;
  const versionOf = async (id: number): Promise<number> => {
    const base = await apiBase(context, server.url);
    return (await api<{ version: number }>(base, `/inbox/${id}`)).version;
  };
  /** What the page's own script asks the server, with its cookie and token. */
  const api = <T>(base: string, path: string, body?: object): Promise<T> =>
    page.evaluate(
      async ([at, where, sent]) => {
        const { csrf } = await (await fetch(`${at}/session`)).json();
        const headers = { 'content-type': 'application/json', 'x-csrf-token': csrf };
        const answer = await fetch(at + where, sent ? { method: 'POST', headers, body: sent } : {});
        return answer.json();
      },
      [base, path, body ? JSON.stringify(body) : ''] as const,
    );
  const openItem = async (id: number) => {
    await page.goto(`${server.url}/inbox/${id}`);
    await page.getByRole('article', { name: `Approval ${id}`, exact: true }).waitFor();
  };
  /** Presses the key until the page acts on it: one that comes before the item is ready is not meant for it. */
  const approve = async () => {
    let isAsked = false;
    const asked = page.waitForRequest((request) => request.url().endsWith('/inbox/sign'));
    const noteAsked = (): void => {
      isAsked = true;
    };
    asked.then(noteAsked, () => {});
    const press = async () => {
      if (!isAsked) await page.keyboard.press('a');
      return isAsked;
    };
    await expect.poll(press, { timeout: 30_000, interval: 600 }).toBe(true);
  };
  const plugged = (at: number): Key => {
    const found = keys[at];
    if (!found) throw new Error(`There is no authenticator ${at}.`);
    return found;
  };
  /** What the server wants signed for this approval. */
  const toSign = async (base: string, id: number, more = {}) =>
    api<ToSign>(base, '/inbox/sign', { items: [{ id, version: await versionOf(id) }], ...more });

  it('enrols the first key, then a second one that the first countersigns', async () => {
    await plug();
    await enrol('Laptop');
    await page.getByRole('row', { name: /Laptop/ }).waitFor();
    await plug();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the passkey').fill('Spare');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Now countersign it').waitFor();
    await only(plugged(0));
    await dialog.getByRole('button', { name: 'Countersign' }).click();
    await page.getByRole('dialog', { name: 'Passkey enrolled' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row', { name: /Spare.*By another key/ }).waitFor();
    const listed = JSON.parse(await server.cli('--json', 'passkeys')) as { passkeys: { name: string }[] };
    expect(listed.passkeys.map(({ name }) => name)).toEqual(['Laptop', 'Spare']);
  });

  it('signs the mode into the log, and weakens it by a signature only', async () => {
    await page.goto(`${server.url}/passkeys`);
    await page.getByRole('radio', { name: /^Always/ }).click();
    await page.getByText('Changed, and signed into the audit log.').waitFor();
    expect(JSON.parse(await server.cli('--json', 'passkeys'))).toMatchObject({ required: { log: 'always' } });
    await only();
    await page.getByRole('radio', { name: /^Off/ }).click();
    await page.getByText(/Nothing was done/).waitFor({ timeout: 60_000 });
    expect(JSON.parse(await server.cli('--json', 'passkeys'))).toMatchObject({ required: { log: 'always' } });
    await only(plugged(0));
  });

  describe('an approval', () => {
    let id: number;
    let post = 0;
    beforeEach(async () => {
      post += 1;
      id = await ask('compose_tweet', { content: `Post 10${post}` });
    });

    it('is refused on the command line, with the address where to sign', async () => {
      const said = await server
        .cli('approvals', 'approve', String(id))
        .catch((error: Error) => error.message);
      expect(said).toContain(`/inbox/${id}`);
      expect(await stateOf(id)).toBe('pending');
    });

    it('runs after one key press and the authenticator', async () => {
      await openItem(id);
      await page.getByText('Approving needs your passkey').waitFor();
      await approve();
      await expect.poll(() => stateOf(id), { timeout: 30_000 }).not.toBe('pending');
      expect(await stateOf(id)).toMatch(/done|failed/);
      const report = JSON.parse(await server.cli('--json', 'audit', 'verify'));
      expect(report).toMatchObject({ ok: true });
      expect(report.passkeys.signatures).toBeGreaterThan(0);
      const receipt = join(server.home, 'receipt.json');
      await server.cli('audit', 'receipt', String(id), '--output', receipt);
      const witnessed = await server.cli('--json', 'audit', 'verify', '--receipt', receipt);
      expect(JSON.parse(witnessed)).toMatchObject({ ok: true });
    });

    it('stays pending when the authenticator does not verify the person, and says that nothing was done', async () => {
      await only(plugged(0));
      const authenticatorId = String(plugged(0).at);
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
      await openItem(id);
      await approve();
      await page.getByText(/Nothing was done/).waitFor({ timeout: 110_000 });
      expect(await stateOf(id)).toBe('pending');
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    });

    it('is signed as edited', async () => {
      await openItem(id);
      await decide(page, 'e');
      const dialog = page.getByRole('dialog');
      await dialog
        .getByLabel(/content/i)
        .first()
        .fill('424242');
      await dialog.getByRole('button', { name: /save/i }).first().click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('article').getByText('424242').first().waitFor();
      await approve();
      await expect.poll(() => stateOf(id), { timeout: 30_000 }).not.toBe('pending');
      const shown = JSON.parse(await server.cli('--json', 'approvals', 'show', String(id)));
      expect(shown.args).toMatchObject({ content: '424242' });
    });
  });

  it('one touch signs a batch, each item shown in full', async () => {
    const ids = [
      await ask('compose_tweet', { content: 'Post 201' }),
      await ask('compose_tweet', { content: 'Post 202' }),
    ];
    await page.goto(server.url);
    await page.getByText(/^\d+ pending$/).waitFor();
    await page.locator('.inbox-group', { hasText: /^Needs a signature \d+$/ }).waitFor();
    // The newest come first.
    for (const id of ids.toReversed()) {
      await page.getByRole('article', { name: `Approval ${id}`, exact: true }).waitFor();
      await page.keyboard.press('x');
      await page.keyboard.press('j');
    }
    await page.getByRole('button', { name: 'Approve 2 selected' }).waitFor();
    await decide(page, 'a');
    let release = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(`**/inbox/${ids[0]}`, (route) => slow.then(() => route.continue()));
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve 2/ })
      .click();
    const sign = page.getByRole('button', { name: 'Sign and approve 2' });
    await page.getByRole('article', { name: `Approval ${ids[1]} in full` }).waitFor();
    expect(await sign.isDisabled(), 'the other is not to be seen yet').toBe(true);
    release();
    for (const id of ids) await page.getByRole('article', { name: `Approval ${id} in full` }).waitFor();
    await sign.click();
    for (const id of ids) await expect.poll(() => stateOf(id), { timeout: 30_000 }).not.toBe('pending');
  });

  describe('what another page or tab has', () => {
    it('a signature made on another port gets refused, although the browser makes it', async () => {
      const id = await ask('compose_tweet', { content: 'Post 301' });
      const other = await startWeb({ config: CONFIG });
      try {
        await openItem(id);
        const base = await apiBase(context, server.url);
        const request = await toSign(base, id);
        await page.goto(`${other.url}/sign-in`);
        const made = await signIn(page, request);
        expect(JSON.parse(Buffer.from(made.clientData, 'base64url').toString())).toMatchObject({
          origin: other.url,
        });
        await page.goto(server.url);
        const answer = await api<{ code: string; error: string }>(base, '/inbox/sign/finish', made);
        expect(answer).toMatchObject({ code: 'signature_invalid' });
        expect(answer.error).toContain(`it was made on ${other.url}`);
        expect(await stateOf(id)).toBe('pending');
      } finally {
        await other.close();
      }
    });

    it('a signature used before is refused, and so is the slower of two tabs', async () => {
      const id = await ask('compose_tweet', { content: 'Post 302' });
      await openItem(id);
      const base = await apiBase(context, server.url);
      const items = [{ id, version: await versionOf(id) }];
      const [first, second] = [
        await api<ToSign>(base, '/inbox/sign', { items }),
        await api<ToSign>(base, '/inbox/sign', { items }),
      ];
      const signed = await signIn(page, first);
      const late = await signIn(page, second);
      const done = await api<{ results: Shown[] }>(base, '/inbox/sign/finish', signed);
      expect(done.results[0]?.state).toMatch(/done|failed/);
      expect(await api(base, '/inbox/sign/finish', signed)).toMatchObject({
        code: 'approval_state',
        error: expect.stringContaining('perhaps in another tab'),
      });
      expect(await api(base, '/inbox/sign/finish', late)).toMatchObject({ code: 'approval_state' });
      // The old signature under the nonce of a new request signs another statement.
      const next = await ask('compose_tweet', { content: 'Post 303' });
      const fresh = await toSign(base, next);
      expect(await api(base, '/inbox/sign/finish', { ...signed, nonce: fresh.nonce })).toMatchObject({
        code: 'signature_invalid',
      });
      expect(await stateOf(next)).toBe('pending');
    });

    it('the session cookie does not reach a server on another port of the host', async () => {
      const seen: (string | undefined)[] = [];
      const thief = createServer((request, response) => {
        seen.push(request.headers.cookie);
        response.end('<title>thief</title>');
      });
      await new Promise<void>((ready) => thief.listen(0, '127.0.0.1', ready));
      const { port } = thief.address() as AddressInfo;
      const tab = await context.newPage();
      for (const path of ['/', '/api', '/api/session', '/api/s/guess'])
        await tab.goto(`http://localhost:${port}${path}`);
      await tab.close();
      const closed = new Promise((resolve) => thief.close(resolve));
      // The browser keeps connections open in advance.
      thief.closeAllConnections();
      await closed;
      expect(seen.length).toBeGreaterThanOrEqual(4);
      expect(seen.filter((cookie) => cookie?.includes('countersign'))).toEqual([]);
    });
  });

  it('shows all that is signed while it waits for the authenticator', async () => {
    const id = await ask('x_post_thread', { tweets: ['Part one', 'Part two'] });
    await only();
    await openItem(id);
    await approve();
    const dialog = page.getByRole('dialog', { name: 'Sign this decision' });
    const content = dialog.getByRole('region', { name: 'Content' });
    await content.getByText('Part one').waitFor();
    await content.getByText('Part two').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await stateOf(id)).toBe('pending');
    await server.cli('approvals', 'reject', String(id));
    await only(plugged(0));
  });

  it('stays pending when no one touches the authenticator in time', async () => {
    const id = await ask('compose_tweet', { content: 'Post 304' });
    await only();
    await openItem(id);
    await approve();
    await page.getByText(/timed out.*Nothing was done/).waitFor({ timeout: 60_000 });
    expect(await stateOf(id)).toBe('pending');
    await only(plugged(0));
  });

  it('two people sign, each with a key of their own', async () => {
    const id = await ask('x_post_thread', { tweets: ['First of two', 'Second of two'] });
    await openItem(id);
    await approve();
    await page.getByText('Signed. 1 more must sign.').waitFor();
    expect(await stateOf(id)).toBe('pending');
    const third = await plug();
    await page.goto(`${server.url}/passkeys`);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the passkey').fill('Grace');
    await dialog.getByLabel('Person').fill('grace');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Now countersign it').waitFor();
    await only(plugged(0));
    await dialog.getByRole('button', { name: 'Countersign' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await only(third);
    await openItem(id);
    await approve();
    await expect.poll(() => stateOf(id), { timeout: 30_000 }).not.toBe('pending');
    const { signers } = JSON.parse(await server.cli('--json', 'audit', 'verify')).passkeys;
    expect(signers).toHaveLength(3);
  });

  it('where several people have keys, the page asks who signs', async () => {
    const id = await ask('compose_tweet', { content: 'Post 305' });
    await openItem(id);
    await page.getByLabel('Sign as').selectOption('grace');
    await approve();
    await expect.poll(() => stateOf(id), { timeout: 30_000 }).not.toBe('pending');
    const shown = JSON.parse(await server.cli('--json', 'approvals', 'show', String(id)));
    expect(shown.decidedBy).toBe('person:grace');
    await only(plugged(0));
  });

  it('a command on a terminal prints the address and waits for the signature, or for Ctrl-C', async () => {
    const id = await ask('compose_tweet', { content: 'Post 306' });
    const terminal = startTerminal(`approvals approve ${id}`, server);
    try {
      await terminal.shows(`Sign: ${server.url}/inbox/${id}`);
      terminal.press('\x03');
      await terminal.shows(`Stopped waiting. Approval ${id} is still pending.`);
      expect(await terminal.ended).toBe(1);
    } finally {
      terminal.kill();
    }
    const second = startTerminal(`approvals approve ${id}`, server);
    try {
      await second.shows('Waiting for the signature');
      await openItem(id);
      await approve();
      await second.shows(`${id}: `);
      await second.ended;
      expect(await stateOf(id)).toMatch(/done|failed/);
    } finally {
      second.kill();
    }
  });

  describe('an attack that drives the browser or replaces the page', () => {
    it('gets no signature from an authenticator of its own', async () => {
      const id = await ask('compose_tweet', { content: 'Post 307' });
      await openItem(id);
      await plug();
      const request = await toSign(await apiBase(context, server.url), id);
      await expect(signIn(page, request)).rejects.toThrow('NotAllowedError');
      expect(await stateOf(id)).toBe('pending');
      await only(plugged(0));
    });

    it('gets one if the person touches their key for what the page claims to be another call', async () => {
      const [read, hidden] = [
        await ask('compose_tweet', { content: 'Post 308' }),
        await ask('compose_tweet', { content: 'Post 309' }),
      ];
      await openItem(read);
      const base = await apiBase(context, server.url);
      const signed = await signIn(page, await toSign(base, hidden));
      const { results } = await api<{ results: Shown[] }>(base, '/inbox/sign/finish', signed);
      expect(results[0]?.state).toMatch(/done|failed/);
      expect(await stateOf(read)).toBe('pending');
      expect(JSON.parse(await server.cli('--json', 'audit', 'verify'))).toMatchObject({ ok: true });
    });

    it('gets none on another name of this computer', async () => {
      const id = await ask('compose_tweet', { content: 'Post 310' });
      await openItem(id);
      const request = await toSign(await apiBase(context, server.url), id);
      await page.goto(`${server.url.replace('localhost', 'countersign.localhost')}/sign-in`);
      await expect(signIn(page, request)).rejects.toThrow('SecurityError');
    });
  });

  it('says why a call did not run although it was signed', async () => {
    const id = await ask('compose_tweet', { content: 'Post 312' });
    await openItem(id);
    const pauseFirst = async (route: Route) => {
      await server.cli('pause');
      await route.continue();
    };
    await page.route('**/inbox/sign/finish', pauseFirst, { times: 1 });
    try {
      await approve();
      await page.getByRole('article').getByText('A person paused all changes').waitFor();
      expect(await page.getByText('more must sign').count()).toBe(0);
      expect(await stateOf(id)).toBe('pending');
    } finally {
      await server.cli('resume');
    }
  });

  it('a removed key is gone and its signatures are refused', async () => {
    await only(plugged(0));
    await page.goto(`${server.url}/passkeys`);
    await page.getByRole('button', { name: 'Remove Spare' }).click();
    await page.getByText('Removed Spare.').waitFor();
    await page.getByRole('row', { name: /Spare/ }).waitFor({ state: 'detached' });
    const id = await ask('compose_tweet', { content: 'Post 311' });
    const spare = plugged(1);
    const allow = spare.credentials.map(({ credentialId }) =>
      Buffer.from(credentialId, 'base64').toString('base64url'),
    );
    expect(allow).toHaveLength(1);
    await only(spare);
    await openItem(id);
    const base = await apiBase(context, server.url);
    const signed = await signIn(page, { ...(await toSign(base, id)), allow });
    expect(await api(base, '/inbox/sign/finish', signed)).toMatchObject({ code: 'signature_invalid' });
    expect(await stateOf(id)).toBe('pending');
    await only(plugged(0));
  });

  it('a reset stays on the page with its date and the person, also after new keys', async () => {
    const person = (await server.cli('--json', 'passkeys')).match(/"person": ?"([^"]+)"/)?.[1] ?? '';
    await server.cli('passkeys', 'reset', '--yes');
    await page.goto(`${server.url}/passkeys`);
    const resets = page.getByRole('region', { name: 'Resets' });
    await resets.getByText(/passkeys? removed without a signature/).waitFor();
    await resets.getByText(person.replace('person:', ''), { exact: false }).waitFor();
    const at = await resets.locator('time').getAttribute('datetime');
    expect(Date.now() - Date.parse(at ?? '')).toBeLessThan(120_000);
    await page.getByText('No passkeys', { exact: true }).waitFor();
    await plug();
    await enrol('After the reset');
    await page.getByRole('row', { name: /After the reset/ }).waitFor();
    await resets.getByText(/passkeys? removed without a signature/).waitFor();
    expect(await server.cli('passkeys')).toContain(`${at?.slice(0, 16).replace('T', ' ')} by ${person}`);
  });

  it('another address has no passkeys and says where they are', async () => {
    const port = new URL(server.url).port;
    const link = (await server.link()).replace('localhost', '127.0.0.1');
    const other = await context.newPage();
    await other.goto(link);
    await other.goto(`http://127.0.0.1:${port}/passkeys`);
    await other.getByText('Browsers do not offer passkeys on').waitFor();
    await other.close();
  });
});
