import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES, type ToolContext } from '../../../contract/tool.ts';
import type { QaSettings } from '../config.ts';
import { findCommit } from '../qa/checkout.ts';
import {
  type QaKind,
  type QaReport,
  type QaResult,
  qaCommands,
  type StoredReport,
  showCommand,
} from '../qa/runner.ts';
import type { Repo } from '../repos/directory.ts';
import { tailOf } from '../runs.ts';
import { type DevServices, defineDevTool } from '../services.ts';
import { dryRun, runId } from '../shapes.ts';

const report = z.object({
  command: z.string(),
  phase: z.enum(['setup', 'command']),
  exit_code: z.int(),
  duration_ms: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  output_limit_bytes: z.int(),
  commit: z.string().describe('Commit the command ran on.'),
  tree: z.string().describe('Git tree of that commit: what this report is evidence for.'),
  sandbox: z.enum(['bwrap', 'none']),
});

const output = z.object({
  status: z.enum(['pass', 'fail', 'timeout', 'error', 'dry_run']),
  report,
  summary: z.string(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});
type Reply = z.input<typeof output>;

interface Wording {
  readonly name: 'qa_test' | 'qa_lint';
  readonly policyName: 'qa.test' | 'qa.lint';
  readonly title: string;
  readonly summary: string;
}

/** qa_test and qa_lint differ in their command only. */
const defineQaTool = (kind: QaKind, wording: Wording) =>
  defineDevTool({
    ...wording,
    effect: 'change',
    reach: 'local',
    category: 'qa',
    profiles: CHANGE_PROFILES,
    errors: ['not_allowed', 'not_found', 'cancelled', 'quota_exceeded'],
    // Setup and command may each take an hour, after waiting for others.
    deadlineMs: 4 * 3_600_000,
    mayTakeLong: true,
    governanceArgs: ['dry_run'],
    input: z.object({ run_id: runId, dry_run: dryRun }),
    output,

    async present(args, { services }) {
      const { run, repo } = await services.open(args.run_id);
      const commands = qaCommands(kind, repo.settings, services.settings.qa);
      if (!commands) throw new ToolError('not_allowed', noCommand(kind, repo).message);
      const command = showCommand(commands.command);
      const sandbox = await services.qa.sandbox();
      const place = sandbox === 'bwrap' ? 'In a bubblewrap sandbox' : 'Without a sandbox';
      return {
        title: `Run the ${kind} command on ${repo.name}`,
        done: `Ran the ${kind} command on ${repo.name}`,
        act: 'run',
        kind: 'check',
        gist: command,
        // The command runs here, wherever the repository is.
        target: { kind: 'repository', label: repo.name, detail: place, environment: 'local' },
        effect: { text: 'Runs a program', detail: place },
        undo: { possible: true, text: 'Nothing to undo', detail: 'Works on a copy of the code' },
        risks: sandbox === 'bwrap' ? [] : ['Code of the repository runs without a sandbox'],
        body: [
          {
            type: 'fields',
            title: 'Command',
            source: 'countersign',
            rows: [
              { name: 'command', label: 'Command', depth: 0, type: 'code', text: command },
              {
                name: 'branch',
                label: 'Branch',
                depth: 0,
                type: 'text',
                text: run.head_branch ?? run.base_branch ?? 'Default branch',
              },
            ],
          },
        ],
        covers: ['run_id'],
      };
    },
    runOf: (args) => args.run_id,

    async check(args, services) {
      services.tools.check(wording.name, wording.policyName);
      await services.open(args.run_id);
    },

    async preview(args, { services, signal }) {
      const { run, repo } = await services.open(args.run_id);
      const commands = qaCommands(kind, repo.settings, services.settings.qa);
      if (!commands) return unready(services, noCommand(kind, repo));
      const found = await findCommit(run, repo, signal);
      const tree = 'commit' in found ? await found.clone.treeOf(found.commit, signal) : '';
      const sandbox = await services.qa.sandbox();
      const shown = { ...blank(services), command: showCommand(commands.command), exit_code: 0, sandbox };
      const at = 'commit' in found ? { commit: found.commit, tree } : {};
      return { status: 'dry_run', report: { ...shown, ...at }, summary: 'dry run (no execution)' };
    },

    async run(args, context) {
      const { services } = context;
      const { run, repo } = await services.open(args.run_id);
      const commands = qaCommands(kind, repo.settings, services.settings.qa);
      if (!commands) return unready(services, noCommand(kind, repo));
      const found = await findCommit(run, repo, context.signal);
      if ('code' in found) return unready(services, found);
      const { signal, progress } = context;
      const result = await services.qa.run({
        kind,
        ...found,
        commands,
        signal,
        onProgress: (text) => progress(text),
        admit: () => services.checks.requireRoom(context.now(), services.settings.qa.daily_output_bytes),
      });
      await services.checks.add({
        call_id: context.callId,
        repo: repo.name,
        commit_id: found.commit,
        tool: wording.name,
        status: result.status,
        summary: summarize(result),
        log_tail: tailOf(`${result.stdout}${result.stderr && `\n[stderr]\n${result.stderr}`}`),
        finished_at: context.now().toISOString(),
        output_bytes: bytesOf(result),
      });
      return keep(wording.policyName, result, context);
    },

    // A command that was cut off leaves a checkout, which the next start sweeps away, and nothing else.
    reconcile: async () => ({ settled: 'not_done' }),
  });

/** Stores what the command wrote; the report names the tree, so that it can stand as a test result for it. */
async function keep(
  name: string,
  result: QaResult,
  { artifact, note, evidence, services }: ToolContext<DevServices>,
): Promise<Reply> {
  const { status, report: shown } = result;
  const stdout = await artifact(`${name}.stdout.txt`, 'text/plain; charset=utf-8', result.stdout);
  const stderr = await artifact(`${name}.stderr.txt`, 'text/plain; charset=utf-8', result.stderr);
  const ids = { stdout_artifact_id: stdout.id, stderr_artifact_id: stderr.id };
  const body: StoredReport = { tool: name, status, ...shown, ...ids };
  const kept = await artifact(
    `${name}.report.json`,
    'application/json',
    `${JSON.stringify(body, null, 2)}\n`,
  );
  // What an in-toto test result about this tree needs.
  evidence({
    tests: {
      tool: name,
      result: status === 'pass' ? 'PASSED' : 'FAILED',
      ...subject(shown),
      report: kept.id,
    },
  });
  note({
    qa_artifacts: { ...ids, report_artifact_id: kept.id },
  });
  return {
    status,
    report: shown,
    summary: summarize(result),
    ...(status === 'error' ? { error: errorOf(result, services.settings.qa) } : {}),
  };
}

const subject = ({ commit, tree, command, phase }: QaReport) => ({ commit, tree, command, phase });

function summarize({ status, report: { exit_code, duration_ms } }: QaResult): string {
  switch (status) {
    case 'pass':
      return `passed (exit_code=0, ${duration_ms}ms)`;
    case 'fail':
      return `failed (exit_code=${exit_code}, ${duration_ms}ms)`;
    case 'timeout':
      return `timed out after ${duration_ms}ms`;
    default:
      return `error (exit_code=${exit_code})`;
  }
}

/** What `keep` stores of a command: both streams, and the report with their beginnings and ends. */
const bytesOf = ({ stdout, stderr, report: shown }: QaResult): number =>
  [stdout, stderr, JSON.stringify(shown)].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const errorOf = (result: QaResult, qa: QaSettings) =>
  result.problem === undefined
    ? { code: 'qa_execution_failed', message: explain(result, qa) }
    : { code: 'qa_quota_exceeded', message: `${result.report.command} did not finish. ${result.problem}` };

function explain({ report: { phase, command, exit_code, sandbox } }: QaResult, qa: QaSettings): string {
  if (phase === 'command') return `Could not start ${command}; see stderr.`;
  const said = `The setup command ${command} did not succeed (exit code ${exit_code}), so the command was not run.`;
  if (sandbox === 'none' || qa.setup_network) return said;
  return `${said} It ran without network; a person can allow it with dev.qa.setup_network = true.`;
}

const blank = (services: DevServices): Reply['report'] => ({
  command: '',
  phase: 'command',
  exit_code: -1,
  duration_ms: 0,
  stdout: '',
  stderr: '',
  stdout_truncated: false,
  stderr_truncated: false,
  output_limit_bytes: services.settings.qa.output_limit_bytes,
  commit: '',
  tree: '',
  sandbox: 'none',
});

/** Nothing was run, and the reply says why: the documented status `error`. */
const unready = (services: DevServices, error: { code: string; message: string }): Reply => ({
  status: 'error',
  report: { ...blank(services), stderr: error.message },
  summary: 'error (exit_code=-1)',
  error: { code: error.code, message: error.message },
});

const noCommand = (kind: QaKind, { name }: Repo) => ({
  code: 'qa_command_empty',
  message: `No ${kind} command is configured for ${name}. A person can set ${kind} = ["program", "argument"] under [dev.qa], or under [dev.repos.${JSON.stringify(name)}] with the path of the clone.`,
});

export const qaTest = defineQaTool('test', {
  name: 'qa_test',
  policyName: 'qa.test',
  title: 'Run the tests',
  summary: 'Runs the configured test command on the code of the run, in a fresh checkout.',
});

export const qaLint = defineQaTool('lint', {
  name: 'qa_lint',
  policyName: 'qa.lint',
  title: 'Run the linter',
  summary: 'Runs the configured lint command on the code of the run, in a fresh checkout.',
});
