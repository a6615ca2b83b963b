import { z } from 'zod';
import { configSection } from '../../contract/config.ts';

const secret = (doc: string) => z.string().min(1).optional().describe(doc).meta({ secret: true });
const argv = (doc: string) =>
  z
    .array(z.string().refine((word) => !word.includes('\0'), 'must not hold a NUL character'))
    .min(1)
    .refine(([program]) => program?.trim() !== '', 'must begin with a program')
    .optional()
    .describe(doc);
const OWNER_NAME = /^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/;

/** What agents should not touch without a person editing this list; lockfiles are left to each project. */
const PROTECTED_PATHS = [
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
  '.gitmodules',
  'CODEOWNERS',
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

const repo = z
  .object({
    path: z.string().min(1).optional().describe('Folder of the clone; ~ is the home directory.'),
    forge: z.enum(['local', 'github']).optional().describe('Where its issues and pull requests live.'),
    github: z.string().regex(OWNER_NAME, 'must be owner/name').optional().describe('owner/name on GitHub.'),
    remote: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be the name of a git remote')
      .optional()
      .describe('Local forge: new branches start from this remote and are pushed to it. Unset: no network.'),
    test: argv('Command of qa_test as a list of words; no shell is involved.'),
    lint: argv('Command of qa_lint as a list of words.'),
    setup: argv('Run in the fresh worktree before test or lint, for example ["npm", "ci"].'),
    timeout_seconds: z.number().int().min(1).max(3600).optional().describe('Longest a QA command may take.'),
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
    timeout_seconds: z.number().int().min(1).max(3600).default(600).describe('Longest a command may take.'),
    output_limit_bytes: z
      .number()
      .int()
      .min(1024)
      .max(1_048_576)
      .default(262_144)
      .describe('Bytes of stdout and of stderr in a reply; the artifacts keep sixteen times as much.'),
    max_concurrency: z.number().int().min(1).max(64).default(2).describe('QA commands running at once.'),
    sandbox: z
      .enum(['auto', 'bwrap', 'off'])
      .default('auto')
      .describe('auto: bubblewrap where it works; bwrap: refuse without it; off: never.'),
    network: z.boolean().default(false).describe('Let sandboxed test and lint commands use the network.'),
    setup_network: z.boolean().default(false).describe('Let the sandboxed setup command use the network.'),
    readable: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Files and folders a sandboxed command may read beside the system, the programs on the PATH and its worktree; ~ is the home directory.',
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
  'Repositories agents may work on, where their issues live, and the commands that check them.',
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
            'Tools that may be used beside runs_create, by name or policy name. TOOL_ALLOWLIST (comma separated) replaces it.',
          ),
        batch_mode: z
          .enum(['partial', 'strict'])
          .default('partial')
          .describe('partial: a failed item does not stop a batch; strict: it does.'),
        protected_paths: z
          .array(z.string().min(1))
          .default(PROTECTED_PATHS)
          .describe(
            'Globs code_branch_pr_create refuses. Without a slash: in any folder. Ending in /: the folder.',
          ),
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
