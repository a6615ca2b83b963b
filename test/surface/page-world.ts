import { rmSync } from 'node:fs';
import { cutOff, fill, makeFolder } from '../../scripts/screenshots/seed.ts';
import { startWeb, type WebServer } from '../web/support.ts';
import { normaliser } from './normalise.ts';
import { type PagePerson, signInWithoutBrowser } from './person.ts';

/** A Wednesday morning: far enough from midnight and the full hour that a slow run stays within both. */
const START = Date.parse('2026-03-04T10:05:00Z');

/**
 * Gives a Node process another clock and user, so that days, hours, the age of posts and the person's name are the same
 * in every run.
 */
const sameDayAndUser = (): string => {
  const code = `import os from 'node:os';
    import { syncBuiltinESMExports } from 'node:module';
    const ahead = ${START - Date.now()};
    globalThis.Date = new Proxy(Date, {
      construct: (Real, given) => (given.length ? new Real(...given) : new Real(Real.now() + ahead)),
      get: (Real, key) => (key === 'now' ? () => Real.now() + ahead : Reflect.get(Real, key)),
    });
    const { userInfo } = os;
    os.userInfo = (...given) => ({ ...userInfo(...given), username: 'ada' });
    syncBuiltinESMExports();`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
};

export interface PageWorld {
  readonly server: WebServer;
  readonly person: PagePerson;
  normaliser(): (value: unknown) => unknown;
  close(): Promise<void>;
}

/** The build with the work on it that the pictures of the documents show, one change of it interrupted. */
export async function openPageWorld(): Promise<PageWorld> {
  const folder = makeFolder();
  const server = await startWeb({
    config: folder.config,
    // Its day is fixed, so its loops may run.
    env: {
      NODE_OPTIONS: sameDayAndUser(),
      TZ: 'UTC',
      COUNTERSIGN_SCHEDULE__ACTIVE_HOURS_START: '8',
      COUNTERSIGN_SCHEDULE__ACTIVE_HOURS_END: '22',
    },
    // Not in this clone, whose name differs between machines.
    cwd: folder.path,
  });
  const seeding = await signInWithoutBrowser(server);
  const path = (url: string): string => url.slice(`${server.url}/api`.length);
  const json = (body: unknown) => ({ json: async () => body });
  const request = {
    get: async (url: string) => json(await seeding.get(path(url))),
    post: async (url: string, { data }: { data: object }) => json(await seeding.post(path(url), data)),
  };
  await fill(server, { base: `${server.url}/api`, request }, folder.path);
  await server.call('suggest_batch_coding', {
    code_id: 4,
    segments: [{ source_id: 2, start_pos: 4, end_pos: 9 }],
    rationale: 'The river comes up again.',
  });
  await server.stop();
  cutOff(server.home);
  await server.start();
  const texts = {
    [server.home]: '<home>',
    [folder.path]: '<folder>',
    [server.url]: '<url>',
    [process.execPath]: '<node>',
    [process.cwd()]: '<root>',
  };
  return {
    server,
    person: await signInWithoutBrowser(server),
    normaliser: () => normaliser({ texts, fields: VARYING, fractions: /^(score|total|recency)$/ }),
    async close() {
      await server.close();
      rmSync(folder.path, { recursive: true, force: true });
    },
  };
}

/** Durations, signatures and places in the log: reads are written in groups, so their position is not fixed. */
const VARYING = /_ms$|Ms$|^(csrf|exact|token|updatedAt|checkpoint|\$?salt|sig|payload|seq|size)$/;
