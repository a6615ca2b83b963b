// `npm run mutate -- [GROUP…] [FILE…] [--tests=GLOB]`: StrykerJS changes the governance code, or these files of it, one place at a time
// and runs the tests of the group, or these of them: what a few tests notice, the group notices. Installed on first use under .tmp,
// because its 65 MB serve nothing else; version 9, because version 10 needs Node 22.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const VERSION = '9.6.1';
/**
 * What drives whole calls and approvals within the process that runs the tests; a mutant cannot be seen from another. The pages and the
 * properties of standing approvals come by the same code, but take too long to be tried for each mutant.
 */
const KERNEL = [
  'src/kernel/{kernel,recovery,call/*,approvals/{approvals,file-edits,standing,webhook}}.test.ts',
  'src/kernel/{passkeys/forged,views/*}.test.ts',
  'test/kernel/{unrecorded,fair-shares}.test.ts',
  'test/security/{approval-*,approved-reads,config-evidence,forged-approvals,governance,late-outcomes}.test.ts',
  'test/security/{policy-change,replay-and-limits}.test.ts',
];
const GROUPS = {
  call: {
    mutate: ['src/kernel/call/*.ts'],
    tests: [...KERNEL, 'src/kernel/passkeys/passkeys.test.ts'],
  },
  approvals: {
    mutate: ['src/kernel/approvals/*.ts'],
    tests: [
      ...KERNEL,
      'src/{kernel/passkeys/passkeys,web/api/{inbox,standing},transports/call-tool}.test.ts',
      'test/{kernel/presentations,contract/approvals}.test.ts',
    ],
  },
  policy: {
    mutate: ['src/kernel/policy/*.ts'],
    tests: [
      'src/kernel/{policy/*,call/admission}.test.ts',
      'test/security/{config-evidence,governance,policy-change,replay-and-limits}.test.ts',
    ],
  },
  recovery: {
    mutate: ['src/kernel/recovery.ts', 'src/kernel/store/pause.ts'],
    tests: KERNEL,
  },
  log: {
    mutate: ['src/kernel/log/**/*.ts', 'src/lib/merkle.ts'],
    tests: [
      'src/kernel/{log/**,passkeys}/*.test.ts',
      'src/lib/merkle.test.ts',
      'test/kernel/{cells,old-store}.test.ts',
      'test/security/{config-evidence,forged-approvals}.test.ts',
    ],
  },
  access: {
    mutate: ['src/transports/{http-access,identity,call-tool,parked}.ts', 'src/lib/loopback.ts'],
    tests: ['src/{transports/*,lib/loopback}.test.ts', 'test/security/{doors,shares}.test.ts'],
  },
  'sign-in': {
    mutate: ['src/web/sign-in.ts', 'src/kernel/views/sign-in.ts'],
    tests: ['test/security/{sign-in,doors}.test.ts'],
  },
  privacy: {
    mutate: ['src/kernel/log/privacy.ts', 'src/toolkits/research/privacy/*.ts'],
    tests: [
      'src/kernel/log/*.test.ts',
      'src/toolkits/research/privacy/*.test.ts',
      'src/toolkits/research/test/privacy.test.ts',
    ],
  },
};

const options = process.argv.slice(2).filter((name) => name.startsWith('--'));
const [only] = options.map((option) => option.match(/^--tests=(.+)$/)?.[1]);
if (options.length > (only ? 1 : 0)) throw new Error('The only option is --tests=GLOB.');
const given = process.argv.slice(2).filter((name) => !name.startsWith('--'));
const files = given.filter((name) => name.includes('/'));
const wanted = given.filter((name) => !name.includes('/'));
const unknown = wanted.filter((name) => !Object.hasOwn(GROUPS, name));
if (unknown.length > 0)
  throw new Error(`Unknown group ${unknown.join(', ')}. Choose from ${Object.keys(GROUPS).join(', ')}.`);
const names = wanted.length > 0 ? wanted : Object.keys(GROUPS);

const folder = resolve('.tmp/stryker');
// Each choice of groups has its own files, so that several can run at the same time and continue where they stopped.
const own = `.tmp/stryker/${wanted.join('-') || 'all'}`;
if (!existsSync(`${folder}/node_modules/@stryker-mutator/vitest-runner`)) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, '{ "private": true }\n');
  const packages = ['core', 'vitest-runner'].map((name) => `@stryker-mutator/${name}@${VERSION}`);
  // The peer dependency is the vitest of this project.
  execFileSync('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', ...packages], {
    cwd: folder,
    stdio: 'inherit',
  });
}
const config = {
  mutate: [
    ...(files.length > 0 ? files : names.flatMap((name) => GROUPS[name].mutate)),
    '!src/**/*.{test,fixture}.ts',
  ],
  plugins: [
    `${folder}/node_modules/@stryker-mutator/vitest-runner/dist/src/index.js`,
    resolve('scripts/mutate/warm-runner.mjs'),
  ],
  // Stryker would rewrite the paths in tsconfig.json with TypeScript's old programming interface; ours needs no rewriting.
  tsconfigFile: 'none.json',
  testRunner: 'warm',
  vitest: { configFile: 'scripts/mutate/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // Texts are pinned elsewhere, and most of them are shown to people only.
  mutator: { excludedMutations: ['StringLiteral'] },
  ignorePatterns: ['.tmp', 'dist', 'coverage'],
  tempDirName: '.tmp/stryker-sandbox',
  incremental: true,
  incrementalFile: `${own}.incremental.json`,
  concurrency: Number(process.env.MUTATE_WORKERS ?? 2),
  timeoutMS: 30_000,
  reporters: ['clear-text', 'json', 'progress-append-only'],
  jsonReporter: { fileName: `${own}.report.json` },
  clearTextReporter: { allowColor: false, logTests: false },
  thresholds: { high: 95, low: 90, break: null },
};
writeFileSync(`${own}.config.json`, JSON.stringify(config, null, 2));
execFileSync(
  process.execPath,
  [`${folder}/node_modules/@stryker-mutator/core/bin/stryker.js`, 'run', `${own}.config.json`],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      MUTATE_TESTS: JSON.stringify(only ? [only] : names.flatMap((name) => GROUPS[name].tests)),
      MUTATE_STRYKER: `${folder}/node_modules`,
      MUTATE_DURATIONS: resolve(`${own}.durations.json`),
    },
  },
);

const BUDGET = 90;
const { files: reported } = JSON.parse(readFileSync(`${own}.report.json`, 'utf8'));
const counts = { killed: 0, survived: 0 };
for (const [file, { source, mutants }] of Object.entries(reported)) {
  const lines = source.split('\n');
  for (const { status, location, replacement = '' } of mutants) {
    if (status === 'Killed' || status === 'Timeout') counts.killed += 1;
    if (status !== 'Survived' && status !== 'NoCoverage') continue;
    counts.survived += 1;
    const line = lines[location.start.line - 1] ?? '';
    process.stdout.write(`${file}:${location.start.line} ${line.trim()} -> ${replacement.slice(0, 120)}\n`);
  }
}
const score = (100 * counts.killed) / Math.max(1, counts.killed + counts.survived);
process.stdout.write(
  `${counts.killed} killed, ${counts.survived} survived: ${score.toFixed(1)} % (budget ${BUDGET} %)\n`,
);
if (score < BUDGET) process.exitCode = 1;
