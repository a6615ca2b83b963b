import { type ActOptions, CliError, type CommandHost } from '../../../contract/command.ts';
import { lookup } from '../../../lib/lookup.ts';
import { previewDiff } from '../../../lib/preview-diff.ts';
import { timeLimit } from '../../../lib/time-limit.ts';
import { printDiff } from '../../../terminal/diff.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { limitOf, oneLine, paragraph, plainText } from '../../../terminal/text.ts';
import type { Author, Pull } from '../forge/port.ts';
import type { DevServices } from '../services.ts';
import { devIssueClose, devPrClose, devPrMerge, devPrReview } from '../tools/people-only.ts';
import { views } from '../views.ts';
import { checksOf } from './reports.ts';
import { minute } from './runs.ts';

interface ListOptions {
  readonly repo?: string;
  readonly state?: string;
  readonly limit?: string;
}
interface RepoOptions {
  readonly repo?: string;
}

export function listIssues(host: CommandHost, options: ListOptions): Promise<void> {
  return host.open(async (app) => {
    const shown = await app.view(views, 'issues', listed(options));
    if (host.options.json) return printJson(shown);
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

export function showIssue(host: CommandHost, number: string, options: RepoOptions): Promise<void> {
  return host.open(async (app) => {
    const shown = await app.view(views, 'issue', one(number, options));
    if (host.options.json) return printJson(shown);
    const { issue } = shown;
    print(`#${issue.number} ${oneLine(issue.title, 200)}  (${issue.state})`);
    print(`${shown.repo}, ${byOf(issue.author)}, ${minute(issue.created_at)}`);
    if (issue.labels.length > 0) print(`Labels: ${plainText(issue.labels.join(', '))}`);
    if (issue.body) print(`\n${paragraph(issue.body)}`);
  });
}

export function listPulls(host: CommandHost, options: ListOptions): Promise<void> {
  return host.open(async (app) => {
    const shown = await app.view(views, 'prs', listed(options));
    if (host.options.json) return printJson(shown);
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

export function showPull(host: CommandHost, number: string, options: RepoOptions): Promise<void> {
  return host.open(async (app) => {
    const shown = await app.view(views, 'pr', one(number, options));
    const checks = await checksOf(app, shown.pr.head.sha);
    if (host.options.json) return printJson({ ...shown, checks });
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
        `${tool} on this commit: ${lookup(VERDICTS, status) ?? status} (${oneLine(detail)}). To read the report: countersign dev report ${call_id}`,
      );
    if (checks.length === 0 && pr.state === 'open')
      print('Neither qa_test nor qa_lint has run on this commit.');
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
    if (shown.truncated) print('The forge did not return all files; this list is incomplete.');
    for (const comment of comments)
      print(
        `\n${byOf(comment.author)}, ${minute(comment.created_at)}${comment.state ? `, ${comment.state.replace('_', ' ')}` : ''}\n${paragraph(comment.body)}`,
      );
    if (pr.state === 'open')
      print(
        `\nView: countersign dev pr diff ${pr.number}   Decide: countersign dev pr merge|close ${pr.number}`,
      );
  });
}

const DIFF_MS = 120_000;

/** The change itself, byte for byte as `git diff --binary` prints it. */
export function diffPull(host: CommandHost, number: string, options: RepoOptions): Promise<void> {
  return host.open(async (app) => {
    const { repos } = await app.services<DevServices>();
    const { forge, name } = await repos.forPerson(options.repo ?? '.');
    const limit = timeLimit(DIFF_MS);
    const files = await forge.pullDiff(numberOf(number), limit.signal).finally(() => limit.clear());
    const diff = previewDiff({ files });
    if (host.options.json) return printJson({ repo: name, diff: diff.toString('utf8'), files });
    printDiff(diff);
  });
}

export function mergePull(
  host: CommandHost,
  number: string,
  options: RepoOptions & ActOptions & { squash?: boolean; expect?: string },
): Promise<void> {
  return host.open(async (app) => {
    const args = {
      repo: options.repo ?? '.',
      pr_number: numberOf(number),
      method: options.squash ? 'squash' : 'merge',
      ...(options.expect ? { expected_head: options.expect } : {}),
    };
    app.printOutcome(
      await app.act(devPrMerge, args, options),
      (pull) => `Merged #${pull.number} into ${pull.base.ref} as ${pull.merge_commit.slice(0, 12)}.`,
    );
  });
}

export function reviewPull(
  host: CommandHost,
  number: string,
  options: RepoOptions & ActOptions & { message: string; approveChange?: boolean; requestChanges?: boolean },
): Promise<void> {
  return host.open(async (app) => {
    if (options.approveChange && options.requestChanges)
      throw new CliError('Use --approve-change or --request-changes, not both.', 2);
    const state = options.approveChange
      ? 'approved'
      : options.requestChanges
        ? 'changes_requested'
        : 'commented';
    const args = { repo: options.repo ?? '.', pr_number: numberOf(number), state, body: options.message };
    app.printOutcome(
      await app.act(devPrReview, args, options),
      () => `Reviewed #${numberOf(number)}: ${state.replace('_', ' ')}.`,
    );
  });
}

export function closePull(
  host: CommandHost,
  number: string,
  options: RepoOptions & ActOptions,
): Promise<void> {
  return host.open(async (app) => {
    const args = { repo: options.repo ?? '.', pr_number: numberOf(number) };
    app.printOutcome(
      await app.act(devPrClose, args, options),
      (pull) => `Closed #${pull.number} without merging. The branch ${pull.head.ref} still exists.`,
    );
  });
}

export function closeIssue(
  host: CommandHost,
  number: string,
  options: RepoOptions & ActOptions,
): Promise<void> {
  return host.open(async (app) => {
    const args = { repo: options.repo ?? '.', issue_number: numberOf(number) };
    app.printOutcome(
      await app.act(devIssueClose, args, options),
      (issue) => `Closed issue #${issue.number}: ${issue.title}`,
    );
  });
}

const listed = ({ repo, state, limit }: ListOptions) => ({ repo, state, limit: limitOf(limit, 100) });
const one = (number: string, { repo }: RepoOptions) => ({ repo, number: numberOf(number) });

function numberOf(text: string): number {
  const number = Number(text.replace(/^#/, ''));
  if (!Number.isInteger(number) || number < 1)
    throw new CliError(`Invalid issue or pull request number "${text}".`, 2);
  return number;
}

const VERDICTS: Readonly<Record<string, string>> = { pass: 'passed', fail: 'failed', timeout: 'timed out' };
const stateOf = ({ state, merged, draft }: Pull): string =>
  merged ? 'merged' : draft ? `${state}, draft` : state;
const stateWord = ({ state = 'open' }: ListOptions): string => (state === 'all' ? '' : `${state} `);
const byOf = ({ login, kind, trust }: Author): string =>
  plainText(`${login}${kind === 'person' ? '' : ` (${kind})`}${trust === 'untrusted' ? ', untrusted' : ''}`);
