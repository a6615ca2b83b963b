import type { Command } from 'commander';
import type { HostOf, ToolkitCommands } from '../../contract/command.ts';

export const commands: ToolkitCommands = {
  order: 2,
  add: addDev,
  check: async (host) => (await import('./cli/checks.ts')).checkDev(host),
};

const approving = (command: Command): Command =>
  command.option('--approve', 'if approval is required, approve immediately');

function addDev(program: Command, host: HostOf): void {
  const runs = () => import('./cli/runs.ts');
  const forge = () => import('./cli/forge.ts');
  const reports = () => import('./cli/reports.ts');
  const repo = (command: Command): Command =>
    command.option('--repo <name>', 'repository (default: the clone in the current directory)');
  const listing = (command: Command): Command =>
    repo(command)
      .addOption(
        program
          .createOption('--state <state>', 'state to list')
          .choices(['open', 'closed', 'all'])
          .default('open'),
      )
      .option('--limit <n>', 'maximum number of rows', '50');
  const dev = program.command('dev').description('Review code repositories: runs, issues and pull requests');
  dev
    .command('repos')
    .description('List the repositories you can use')
    .action(async (_options, command) => (await runs()).listRepos(host(command)));
  dev
    .command('runs')
    .description('List agent runs, newest first')
    .option('--repo <name>', 'only this repository')
    .option('--limit <n>', 'maximum number of rows', '50')
    .action(async (options, command) => (await runs()).listRuns(host(command), options));
  dev
    .command('run <id>')
    .description('Show one run with every call in it')
    .action(async (id, _options, command) => (await runs()).showRun(host(command), id));
  listing(dev.command('issues').description('List the issues of a repository')).action(
    async (options, command) => (await forge()).listIssues(host(command), options),
  );
  const issue = dev.command('issue').description('Show or close one issue');
  repo(issue.command('show <number>').description('Show the text of an issue')).action(
    async (number, options, command) => (await forge()).showIssue(host(command), number, options),
  );
  approving(repo(issue.command('close <number>').description('Close an issue of the local forge'))).action(
    async (number, options, command) => (await forge()).closeIssue(host(command), number, options),
  );
  listing(dev.command('prs').description('List the pull requests of a repository')).action(
    async (options, command) => (await forge()).listPulls(host(command), options),
  );
  const pr = dev.command('pr').description('Show, review, merge or close one pull request');
  repo(pr.command('show <number>').description('Show the text, files and comments of a pull request')).action(
    async (number, options, command) => (await forge()).showPull(host(command), number, options),
  );
  repo(pr.command('diff <number>').description('Print the diff of a pull request')).action(
    async (number, options, command) => (await forge()).diffPull(host(command), number, options),
  );
  approving(repo(pr.command('review <number>').description('Review a pull request of the local forge')))
    .requiredOption('-m, --message <text>', 'text of the review')
    .option('--approve-change', 'approve the change')
    .option('--request-changes', 'request changes')
    .action(async (number, options, command) => (await forge()).reviewPull(host(command), number, options));
  approving(repo(pr.command('merge <number>').description('Merge a pull request of the local forge')))
    .option('--squash', 'merge as one commit')
    .option('--expect <commit>', 'merge only if the branch is still at this commit')
    .action(async (number, options, command) => (await forge()).mergePull(host(command), number, options));
  approving(
    repo(pr.command('close <number>').description('Close a pull request of the local forge without merging')),
  ).action(async (number, options, command) => (await forge()).closePull(host(command), number, options));
  dev
    .command('reports')
    .description('List test and lint reports, newest first')
    .option('--run <id>', 'only this run')
    .option('--limit <n>', 'maximum number of rows', '20')
    .action(async (options, command) => (await reports()).listReports(host(command), options));
  dev
    .command('report <call>')
    .description('Show one report with its output')
    .action(async (call, _options, command) => (await reports()).showReport(host(command), call));
}
