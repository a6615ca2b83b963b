import { toolFactory } from '../../contract/tool.ts';
import type { ToolkitHost } from '../../contract/toolkit.ts';
import { Attempts } from './attempts.ts';
import { type DevSettings, dev } from './config.ts';
import { githubAccess } from './forge/github/access.ts';
import { type ClientOptions, GithubClient } from './forge/github/client.ts';
import { Scratch } from './git/build-commit.ts';
import { QaRunner } from './qa/runner.ts';
import { type Repo, RepoDirectory } from './repos/directory.ts';
import { CheckStore, type Run, RunStore } from './runs.ts';
import type { DevTables } from './tables.ts';
import { listOf, ToolAllowlist } from './tool-allowlist.ts';

/** What the tools of this kit may use. */
export interface DevServices {
  readonly settings: DevSettings;
  readonly tools: ToolAllowlist;
  readonly repos: RepoDirectory;
  readonly runs: RunStore;
  readonly attempts: Attempts;
  readonly checks: CheckStore;
  readonly qa: QaRunner;
  readonly scratch: Scratch;
  now(): Date;
  /** The run with its repository; throws when either is unknown or no longer allowed. */
  open(runId: string): Promise<{ readonly run: Run; readonly repo: Repo }>;
}

export const defineDevTool = toolFactory<DevServices>();

/** Reads the configuration and prepares everything without touching the network or any repository. */
export async function connectDev(
  host: ToolkitHost,
  options: { readonly cwd?: string; readonly client?: ClientOptions } = {},
): Promise<DevServices> {
  const settings = host.section(dev);
  const { env, dataDir } = host;
  const db = host.db<DevTables>();
  const scratch = new Scratch(dataDir);
  await scratch.sweep();
  const runs = new RunStore(db);
  const repos = new RepoDirectory({
    settings,
    forge: settings.forge ?? (env.GITHUB_APP_ID ? 'github' : 'local'),
    hasGithub: Boolean(
      settings.github.token ?? env.GITHUB_TOKEN ?? settings.github.app_id ?? env.GITHUB_APP_ID,
    ),
    allowlist: listOf(env.REPO_ALLOWLIST) ?? settings.repo_allowlist,
    cwd: options.cwd ?? process.cwd(),
    db,
    scratch,
    github: new GithubClient(() => githubAccess(settings.github, env), host.log, {
      ...(options.client ?? { pace: true, retryBaseMs: 1000 }),
      timeoutMs: settings.github.timeout_seconds * 1000,
    }),
    now: () => host.now(),
  });
  return {
    settings,
    tools: new ToolAllowlist(listOf(env.TOOL_ALLOWLIST) ?? settings.tool_allowlist),
    repos,
    runs,
    attempts: new Attempts(db, settings.limits),
    checks: new CheckStore(db),
    scratch,
    qa: new QaRunner(settings.qa, { scratch, dataDir, env }),
    now: () => host.now(),
    async open(runId) {
      const run = await runs.get(runId);
      return { run, repo: await repos.ofRun(run) };
    },
  };
}
