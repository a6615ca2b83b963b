import type { Author, Comment, Issue, Pull, PullFile } from '../../toolkits/dev/forge/port.ts';
import type { DevServices } from '../../toolkits/dev/services.ts';
import { type ActOptions, act, look, tellAct } from '../act.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';
import { oneLine, paragraph, plainText } from '../plain-text.ts';
import { limitOf } from '../text.ts';
import { readable } from './dev-change.ts';
import { checksOf } from './dev-reports.ts';
import { minute } from './dev-runs.ts';

interface ListOptions {
  readonly repo?: string;
  readonly state?: string;
  readonly limit?: string;
}
interface RepoOptions {
  readonly repo?: string;
}

export function listIssues(global: GlobalOptions, options: ListOptions): Promise<void> {
  return withApp(global, async (app) => {
    const shown = await look<{ repo: string; issues: Issue[] }>(app, 'dev', 'issues', listed(options));
    if (global.json) return printJson(shown);
    if (shown.issues.length === 0) return print(`No ${stateWord(options)}issues in ${shown.repo}.`);
    print(
      table(
        ['NUMBER', 'STATE', 'BY', 'CREATED', 'LABELS', 'TITLE'],
        shown.issues.map((one) => [
          `#${one.number}`,
          one.state,
          byOf(one.author),
          minute(one.created_at),
          plainText(one.labels.join(', ')),
          oneLine(one.title, 60),
        ]),
      ),
    );
  });
}

export function showIssue(global: GlobalOptions, number: string, options: RepoOptions): Promise<void> {
  return withApp(global, async (app) => {
    const shown = await look<{ repo: string; issue: Issue }>(app, 'dev', 'issue', one(number, options));
    if (global.json) return printJson(shown);
    const { issue } = shown;
    print(`#${issue.number} ${oneLine(issue.title, 200)}  (${issue.state})`);
    print(`${shown.repo}, ${byOf(issue.author)}, ${minute(issue.created_at)}`);
    if (issue.labels.length > 0) print(`Labels: ${plainText(issue.labels.join(', '))}`);
    if (issue.body) print(`\n${paragraph(issue.body)}`);
  });
}

export function listPulls(global: GlobalOptions, options: ListOptions): Promise<void> {
  return withApp(global, async (app) => {
    const shown = await look<{ repo: string; prs: Pull[] }>(app, 'dev', 'prs', listed(options));
    if (global.json) return printJson(shown);
    if (shown.prs.length === 0) return print(`No ${stateWord(options)}pull requests in ${shown.repo}.`);
    print(
      table(
        ['NUMBER', 'STATE', 'BY', 'CREATED', 'BRANCH', 'TITLE'],
        shown.prs.map((pull) => [
          `#${pull.number}`,
          stateOf(pull),
          byOf(pull.author),
          minute(pull.created_at),
          plainText(`${pull.head.ref} → ${pull.base.ref}`),
          oneLine(pull.title, 60),
        ]),
      ),
    );
  });
}

interface ShownPull {
  readonly repo: string;
  readonly pr: Pull;
  readonly files: readonly PullFile[];
  readonly truncated: boolean;
  readonly comments: readonly Comment[];
}

export function showPull(global: GlobalOptions, number: string, options: RepoOptions): Promise<void> {
  return withApp(global, async (app) => {
    const shown = await look<ShownPull>(app, 'dev', 'pr', one(number, options));
    const checks = await checksOf(app, shown.pr.head.sha);
    if (global.json) return printJson({ ...shown, checks });
    const { pr, files, comments } = shown;
    print(`#${pr.number} ${oneLine(pr.title, 200)}  (${stateOf(pr)})`);
    print(`${shown.repo}, ${byOf(pr.author)}, ${minute(pr.created_at)}`);
    print(
      plainText(
        `${pr.head.ref} (${pr.head.sha.slice(0, 12)}) → ${pr.base.ref} (${pr.base.sha.slice(0, 12)})${pr.mergeable === undefined || pr.state === 'closed' ? '' : pr.mergeable ? ', can be merged' : ', has conflicts'}`,
      ),
    );
    for (const { tool, status, detail, call_id } of checks)
      print(
        `${tool} on this commit: ${VERDICTS[status] ?? status} (${oneLine(detail)}). Read it: countersign dev report ${call_id}`,
      );
    if (checks.length === 0 && pr.state === 'open') print('Neither qa_test nor qa_lint ran on this commit.');
    if (pr.body) print(`\n${paragraph(pr.body)}`);
    print('');
    print(
      table(
        ['FILE', 'STATUS', '+', '-'],
        files.map((file) => [
          plainText(file.previous_filename ? `${file.previous_filename} → ${file.filename}` : file.filename),
          file.status,
          String(file.additions),
          String(file.deletions),
        ]),
        100,
      ),
    );
    if (shown.truncated) print('The forge has more files than it gives out.');
    for (const comment of comments)
      print(`\n${byOf(comment.author)}, ${minute(comment.created_at)}\n${paragraph(comment.body)}`);
    if (pr.state === 'open')
      print(
        `\nRead it: countersign dev pr diff ${pr.number}   Decide: countersign dev pr merge|close ${pr.number}`,
      );
  });
}

/** The change itself, in the form `git apply` and `patch` read. */
export function diffPull(global: GlobalOptions, number: string, options: RepoOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { services } = await app.inventory.load('dev');
    const { repos } = (await services()) as DevServices;
    const { forge, name } = await repos.forPerson(options.repo ?? '.');
    const found = await forge.pullFiles(numberOf(number), AbortSignal.timeout(60_000));
    const diff = found.files.map(unified).join('');
    if (global.json) return printJson({ repo: name, diff, truncated: found.truncated });
    // Into a pipe it goes as it is; on a terminal nothing in it may steer the terminal.
    print(process.stdout.isTTY ? readable(diff) : diff.replace(/\n$/, ''));
    if (found.truncated)
      throw new CliError('The forge has more files than it gives out; this is not the whole diff.');
  });
}

function unified({ filename, previous_filename, status, patch }: PullFile): string {
  if (patch === undefined) return `${filename}: ${status}, no text to show\n`;
  const before = status === 'added' ? '/dev/null' : `a/${previous_filename ?? filename}`;
  const after = status === 'removed' ? '/dev/null' : `b/${filename}`;
  return `--- ${before}\n+++ ${after}\n${patch.replace(/\n?$/, '\n')}`;
}

export function mergePull(
  global: GlobalOptions,
  number: string,
  options: RepoOptions & ActOptions & { squash?: boolean; expect?: string },
): Promise<void> {
  return withApp(global, async (app) => {
    const args = {
      repo: options.repo ?? '.',
      pr_number: numberOf(number),
      method: options.squash ? 'squash' : 'merge',
      ...(options.expect ? { expected_head: options.expect } : {}),
    };
    tellAct<Pull & { merge_commit: string }>(
      global,
      await act(app, 'dev_pr_merge', args, options),
      (pull) => `Merged #${pull.number} into ${pull.base.ref} as ${pull.merge_commit.slice(0, 12)}.`,
    );
  });
}

export function closePull(
  global: GlobalOptions,
  number: string,
  options: RepoOptions & ActOptions,
): Promise<void> {
  return withApp(global, async (app) => {
    const args = { repo: options.repo ?? '.', pr_number: numberOf(number) };
    tellAct<Pull>(
      global,
      await act(app, 'dev_pr_close', args, options),
      (pull) => `Closed #${pull.number} without merging. The branch ${pull.head.ref} is still there.`,
    );
  });
}

export function closeIssue(
  global: GlobalOptions,
  number: string,
  options: RepoOptions & ActOptions,
): Promise<void> {
  return withApp(global, async (app) => {
    const args = { repo: options.repo ?? '.', issue_number: numberOf(number) };
    tellAct<Issue>(
      global,
      await act(app, 'dev_issue_close', args, options),
      (issue) => `Closed issue #${issue.number}: ${issue.title}`,
    );
  });
}

const listed = ({ repo, state, limit }: ListOptions) => ({ repo, state, limit: limitOf(limit, 100) });
const one = (number: string, { repo }: RepoOptions) => ({ repo, number: numberOf(number) });

function numberOf(text: string): number {
  const number = Number(text.replace(/^#/, ''));
  if (!Number.isInteger(number) || number < 1)
    throw new CliError(`"${text}" is not the number of an issue or a pull request.`, 2);
  return number;
}

const VERDICTS: Readonly<Record<string, string>> = { pass: 'passed', fail: 'failed', timeout: 'timed out' };
const stateOf = ({ state, merged, draft }: Pull): string =>
  merged ? 'merged' : draft ? `${state}, draft` : state;
const stateWord = ({ state = 'open' }: ListOptions): string => (state === 'all' ? '' : `${state} `);
const byOf = ({ login, kind, trust }: Author): string =>
  plainText(`${login}${kind === 'person' ? '' : ` (${kind})`}${trust === 'untrusted' ? ', untrusted' : ''}`);
