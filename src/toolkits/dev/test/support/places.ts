import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createEmulator } from 'emulate';
import { createHome, type Home } from '../../../../../test/e2e/support.ts';
import { git, makeRepo } from './dev.ts';
import { startGithub } from './github-double.ts';
import type { GithubDouble } from './github-shapes.ts';

/** A repository to work on, with a home folder whose configuration names it. */
export interface Place {
  readonly home: Home;
  /** What runs_create is given. */
  readonly repo: string;
  /** The clone QA runs in; undefined where there is none. */
  readonly clone: string | undefined;
  /** Where branches end up: the clone itself, its remote, or GitHub's own repository. */
  readonly target: string | undefined;
  readonly double: GithubDouble | undefined;
  /** What README.md holds on main. */
  readme(): Promise<string>;
  close(): Promise<void>;
}

const HEAD = '[mcp_policy]\nmax_mutations_per_hour = 10000\n[log]\nlevel = "error"\n';
const quote = (value: string | readonly string[]): string => JSON.stringify(value);
const FILES = { 'README.md': '# app\n', 'src/a.txt': 'one\ntwo\nthree\n' };

/** Passes on the base, fails where the change under test says so. */
const TEST = [process.execPath, '-e', 'process.stdout.write(require("fs").readFileSync("README.md"))'];
const LINT = [process.execPath, '-e', 'console.error("line 1: no"); process.exit(3)'];

const commands = `test = ${quote(TEST)}\nlint = ${quote(LINT)}\n`;

export async function localPlace(withRemote: boolean): Promise<Place> {
  const home = createHome();
  const clone = makeRepo(join(home.dir, 'work/app'), FILES);
  let target = clone;
  if (withRemote) {
    target = join(home.dir, 'remote.git');
    git(home.dir, 'clone', '-q', '--bare', clone, target);
    git(clone, 'remote', 'add', 'origin', target);
  }
  const at = `path = ${quote(clone)}\n${withRemote ? 'remote = "origin"\n' : ''}`;
  configure(
    home,
    `toolkits = ["dev"]\n${HEAD}[dev.repos.app]\n${at}${commands}
[dev.repos.slow]\n${at}timeout_seconds = 1\ntest = ${quote([process.execPath, '-e', 'setInterval(() => {}, 1000)'])}
[dev.repos.bare]\n${at}lint = ["no-such-program-anywhere"]\n`,
  );
  const readme = async () => `${git(target, 'show', 'main:README.md')}\n`;
  const close = async () => home.close();
  return { home, repo: 'app', clone, target, double: undefined, readme, close };
}

/** GitHub as `emulate` plays it: no git protocol, so no clone either. */
export async function emulatedPlace(): Promise<Place> {
  const github = await createEmulator({
    service: 'github',
    port: await freePort(),
    seed: {
      tokens: { tok: { login: 'octocat', scopes: ['repo'] } },
      github: { users: [{ login: 'octocat' }], repos: [{ owner: 'octocat', name: 'app', auto_init: true }] },
    },
  } as never);
  const home = createHome();
  configure(
    home,
    `toolkits = ["dev"]\n${HEAD}[dev]\nforge = "github"\nrepo_allowlist = ["octocat/app"]\n[dev.qa]\n${commands}
[dev.github]\nbase_url = ${quote(github.url)}\ntoken = "tok"\n`,
  );
  const readme = async () => {
    const url = `${github.url}/repos/octocat/app/contents/README.md`;
    const answer = await fetch(url, { headers: { authorization: 'Bearer tok' } });
    return Buffer.from(((await answer.json()) as { content: string }).content, 'base64').toString();
  };
  const close = async () => {
    await github.close();
    home.close();
  };
  return { home, repo: 'octocat/app', clone: undefined, target: undefined, double: undefined, readme, close };
}

/** GitHub as our own double plays it over a bare repository, which is also the remote of a clone for QA. */
export async function doubledPlace(): Promise<Place> {
  const home = createHome();
  const target = join(home.dir, 'hub.git');
  const clone = join(home.dir, 'work/app');
  git(home.dir, 'clone', '-q', '--bare', makeRepo(join(home.dir, 'source'), FILES), target);
  git(home.dir, 'clone', '-q', target, clone);
  const double = await startGithub(target);
  configure(
    home,
    `toolkits = ["dev"]\n${HEAD}[dev.repos.app]\nforge = "github"\ngithub = "acme/app"\npath = ${quote(clone)}\n${commands}
[dev.github]\nbase_url = ${quote(double.url)}\ntoken = "tok"\n`,
  );
  const readme = async () => `${git(target, 'show', 'main:README.md')}\n`;
  const close = async () => {
    await double.close();
    home.close();
  };
  return { home, repo: 'app', clone, target, double, readme, close };
}

const configure = (home: Home, text: string): void =>
  writeFileSync(join(home.dir, 'config.toml'), text, { mode: 0o600 });

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
