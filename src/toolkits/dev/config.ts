import { z } from 'zod';
import { configSection } from '../../contract/config.ts';

const secret = (doc: string) => z.string().min(1).optional().describe(doc).meta({ secret: true });
const argv = (doc: string) =>
  z
    .array(z.string().refine((word) => !word.includes('\0'), 'must not contain a NUL character'))
    .min(1)
    .refine(([program]) => program?.trim() !== '', 'must begin with a program')
    .optional()
    .describe(doc);
const OWNER_NAME = /^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/;

/** What agents may not touch unless a rule (`allow_protected`) says so: what runs, who decides, what is installed. */
const PROTECTED_PATHS = [
  // Continuous integration, hooks and what editors run
  '.github/',
  '.gitlab-ci.yml',
  '.circleci/',
  '.gitea/',
  '.forgejo/',
  '.woodpecker/',
  '.woodpecker.yml',
  '.buildkite/',
  '.drone.yml',
  '.travis.yml',
  'Jenkinsfile',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
  '.husky/',
  '.githooks/',
  'lefthook.y*ml',
  '.pre-commit-config.yaml',
  '.vscode/',
  '.devcontainer/',
  '.gitmodules',
  '.gitattributes',
  'CODEOWNERS',
  // What other agents read as instructions or start
  'AGENTS.md',
  'CLAUDE.md',
  'GEMINI.md',
  '.claude/',
  '.cursor/',
  '.cursorrules',
  '.mcp.json',
  // Package manifests and lockfiles
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock*',
  'deno.lock',
  'Cargo.toml',
  'Cargo.lock',
  'go.mod',
  'go.sum',
  'pyproject.toml',
  'setup.py',
  'requirements*.txt',
  'poetry.lock',
  'uv.lock',
  'Pipfile*',
  'Gemfile*',
  '*.gemspec',
  'composer.json',
  'composer.lock',
  'pom.xml',
  'build.gradle*',
  // Secrets
  'secrets/',
  '**/secrets/',
  '.env',
  '.env.*',
  '.envrc',
  '*.pem',
  '*.key',
  '*.p12',
  'id_rsa*',
  'id_ed25519*',
  '.npmrc',
  '.netrc',
];

const globs = (doc: string) => z.array(z.string().min(1)).optional().describe(doc);
const cap = (doc: string, most: number) => z.number().int().min(0).max(1000).default(most).describe(doc);

const limits = z
  .object({
    issues: cap('Issues one run may create.', 100),
    comments: cap('Comments one run may write.', 50),
    pull_requests: cap('Pull requests one run may open.', 10),
    updates: cap('Commits one run may add to its open pull requests.', 50),
  })
  .strict();

const content = z
  .object({
    title_prefix: z.string().max(50).default('').describe('Put before titles of issues and pull requests.'),
    labels: globs('Labels agents may set on issues. Unset: any.'),
    mentions: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Names agents may mention with @; "*" allows all. Others are written as code and notify no one.',
      ),
    link_hosts: z
      .array(z.string().min(1))
      .default(['github.com', 'localhost'])
      .describe(
        'Hosts agents may link to, subdomains included; "*" allows all. Other addresses are written as code.',
      ),
    secret_scan: z
      .boolean()
      .default(true)
      .describe('Refuse texts and patches that contain what looks like a secret.'),
  })
  .strict();

const repo = z
  .object({
    path: z.string().min(1).optional().describe('Directory of the clone; ~ is the home directory.'),
    forge: z.enum(['local', 'github']).optional().describe('Where its issues and pull requests are stored.'),
    github: z.string().regex(OWNER_NAME, 'must be owner/name').optional().describe('owner/name on GitHub.'),
    remote: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be the name of a git remote')
      .optional()
      .describe('Local forge: new branches start from this remote and are pushed to it. Unset: no network.'),
    test: argv('Command of qa_test as a list of words; no shell is involved.'),
    lint: argv('Command of qa_lint as a list of words.'),
    setup: argv('Run in the fresh checkout before test or lint, for example ["npm", "ci"].'),
    timeout_seconds: z
      .number()
      .int()
      .min(1)
      .max(3600)
      .optional()
      .describe('Maximum duration of a QA command.'),
    path_allowlist: globs('Globs of the only paths agents may change here; replaces dev.path_allowlist.'),
    allow_protected: globs('Protected paths agents may change here, in addition to dev.allow_protected.'),
    env: z.array(z.string().min(1)).default([]).describe('Variables QA commands of this repo may see.'),
    filters: z
      .boolean()
      .default(false)
      .describe('Let git run its filters (Git LFS, git-crypt) at checkout for QA, outside the sandbox.'),
  })
  .strict();

const qa = z
  .object({
    test: argv('Command of qa_test for repos that set none.'),
    lint: argv('Command of qa_lint for repos that set none.'),
    setup: argv('Setup command for repos that set none.'),
    timeout_seconds: z
      .number()
      .int()
      .min(1)
      .max(3600)
      .default(600)
      .describe('Maximum duration of a command.'),
    output_limit_bytes: z
      .number()
      .int()
      .min(1024)
      .max(1_048_576)
      .default(262_144)
      .describe('Bytes of stdout and of stderr in a reply; artifacts store 16 times as much.'),
    daily_output_bytes: z
      .number()
      .int()
      .min(1024)
      .default(1_073_741_824)
      .describe('Bytes of QA output stored within 24 hours; then commands are refused.'),
    disk_limit_bytes: z
      .number()
      .int()
      .min(1_048_576)
      .default(8_589_934_592)
      .describe(
        'Bytes on disk of the directory of a QA command, with its checkout; beyond them it is stopped.',
      ),
    max_concurrency: z
      .number()
      .int()
      .min(1)
      .max(64)
      .default(2)
      .describe('QA commands running simultaneously.'),
    sandbox: z
      .enum(['auto', 'bwrap', 'off'])
      .default('auto')
      .describe('auto: bubblewrap where it works; bwrap: refuse to run without it; off: never.'),
    network: z.boolean().default(false).describe('Let sandboxed test and lint commands use the network.'),
    setup_network: z.boolean().default(false).describe('Let the sandboxed setup command use the network.'),
    readable: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Files and directories a sandboxed command may read in addition to the system, the programs on the PATH and its checkout; ~ is the home directory.',
      ),
    env: z.array(z.string().min(1)).default([]).describe('Variables every QA command may see.'),
  })
  .strict();

const github = z
  .object({
    base_url: z
      .url({ protocol: /^https?$/ })
      .default('https://api.github.com')
      .describe('API address; GitHub Enterprise uses https://HOST/api/v3.'),
    token: secret('Personal or fine-grained token. GITHUB_TOKEN is used when this is unset.'),
    timeout_seconds: z
      .number()
      .int()
      .min(1)
      .max(300)
      .default(30)
      .describe('Longest GitHub may take to answer one request.'),
    app_id: z
      .union([z.string().min(1), z.number().int()])
      .optional()
      .describe('GitHub App id (GITHUB_APP_ID).'),
    private_key: secret('Private key of the App in PEM form.'),
    private_key_path: z
      .string()
      .min(1)
      .optional()
      .describe('File with the private key of the App (GITHUB_PRIVATE_KEY_PATH).'),
    installation_id: z
      .number()
      .int()
      .optional()
      .describe('Installation to act as (GITHUB_INSTALLATION_ID). Unset: the one of the repository.'),
  })
  .strict();

export const dev = configSection(
  'dev',
  'Repositories agents may work on, where their issues are stored, and the commands that check them.',
  () =>
    z
      .object({
        forge: z
          .enum(['local', 'github'])
          .optional()
          .describe('Default forge. Unset: local, or github when GITHUB_APP_ID is set.'),
        repo_allowlist: z
          .array(z.string().min(1))
          .optional()
          .describe(
            'Repos that may be used, by name or owner/name. REPO_ALLOWLIST (comma separated) replaces it.',
          ),
        tool_allowlist: z
          .array(z.string().min(1))
          .optional()
          .describe(
            'Tools that may be used in addition to runs_create, by name or policy name. TOOL_ALLOWLIST (comma separated) replaces it.',
          ),
        batch_mode: z
          .enum(['partial', 'strict'])
          .default('partial')
          .describe('partial: a failed item does not stop a batch; strict: it does.'),
        protected_paths: z
          .array(z.string().min(1))
          .default(PROTECTED_PATHS)
          .describe(
            'Globs of files agents may not change. Without a slash: in any directory. Ending in /: the directory.',
          ),
        path_allowlist: globs(
          'Globs of the only paths agents may change. Unset: every path that is not protected.',
        ),
        allow_protected: z
          .array(z.string().min(1))
          .default([])
          .describe('Globs of protected paths agents may change all the same; the approval names them.'),
        limits: limits.prefault({}).describe('What one run may do at most.'),
        content: content.prefault({}).describe('What texts of agents may contain.'),
        protected_branches: z
          .array(z.string().min(1))
          .default(['main', 'master', 'trunk', 'develop', 'release/**', 'gh-pages'])
          .describe('Globs of branches code_branch_pr_create never creates.'),
        max_files: z.number().int().min(1).max(1000).default(100).describe('Files in one change.'),
        max_file_bytes: z.number().int().min(1).default(1_048_576).describe('Bytes of one changed file.'),
        max_change_bytes: z
          .number()
          .int()
          .min(1)
          .default(5_242_880)
          .describe('Bytes of all changed files together.'),
        commit_name: z.string().min(1).default('Countersign').describe('Author of local commits.'),
        commit_email: z.string().min(1).default('countersign@localhost').describe('Their e-mail address.'),
        draft: z.boolean().default(false).describe('Open pull requests as drafts.'),
        qa: qa.prefault({}).describe('How QA commands run.'),
        github: github.prefault({}).describe('Access to GitHub.'),
        repos: z
          .record(z.string().min(1), repo)
          .default({})
          .describe('Clones and GitHub repositories by name: [dev.repos.NAME].'),
      })
      .strict(),
);

export type DevSettings = z.output<typeof dev.schema>;
export type RepoSettings = z.output<typeof repo>;
export type GithubSettings = z.output<typeof github>;
export type QaSettings = z.output<typeof qa>;

export const sections = [dev] as const;
