import { type Command, Option } from 'commander';
import type { GlobalOptions } from './context.ts';

const globals = (command: Command): GlobalOptions => command.optsWithGlobals() as GlobalOptions;

/** The commands of the toolkits: what a person does with an account, a repository or a project. */
export function addToolkitCommands(program: Command): void {
  addAuth(program);
  addX(program);
  addDev(program);
  addResearch(program);
}

const approving = (command: Command): Command =>
  command.option('--approve', 'if policy asks for approval, give it here and now');

const collect = (value: string, all: string[] = []): string[] => [...all, value];

function addAuth(program: Command): void {
  addSignIn(program.command('auth').description('sign in to services'), 'x');
}

/** One command under two names: people look for it beside other services, and beside what else there is on X. */
function addSignIn(group: Command, name: string): void {
  const load = () => import('./commands/auth-x-account.ts');
  const signIn = group
    .command(name)
    .description('sign in to your X account')
    .option('--paste', 'paste the address the browser ends on, instead of a local callback')
    .option('--scopes <list>', 'ask for these scopes only, like tweet.read,users.read,offline.access')
    .option('--port <port>', 'port of the local callback')
    .option('--no-browser', 'only print the address')
    .action(async (options, command) =>
      (await import('./commands/auth-x.ts')).authX(globals(command), options),
    );
  signIn
    .command('status')
    .description('account, provider and missing scopes')
    .action(async (_options, command) => (await load()).xStatus(globals(command)));
  signIn
    .command('sign-out')
    .description('forget the tokens on this machine; X is not told')
    .action(async (_options, command) => (await load()).signOut(globals(command)));
}

function addX(program: Command): void {
  const posting = () => import('./commands/x-post.ts');
  const x = program.command('x').description('your X account, or the sandbox');
  addSignIn(x, 'auth');
  x.command('status')
    .description('account, provider and missing scopes')
    .action(async (_options, command) =>
      (await import('./commands/auth-x-account.ts')).xStatus(globals(command)),
    );
  x.command('revoke')
    .description('end the access at X and forget the tokens on this machine')
    .action(async (_options, command) =>
      (await import('./commands/auth-x-account.ts')).revokeAccess(globals(command)),
    );
  approving(x.command('post <text>'))
    .description('post a text; - reads it from standard input')
    .option('--media <file>', 'picture or video from an allowed folder; may be repeated', collect)
    .option('--dry-run', 'check it and show what would happen')
    .action(async (text, options, command) => (await posting()).post(globals(command), text, options));
  approving(x.command('reply <post> <text>'))
    .description('reply to a post, by its number or address')
    .option('--media <file>', 'picture or video from an allowed folder; may be repeated', collect)
    .action(async (id, text, options, command) =>
      (await posting()).reply(globals(command), id, text, options),
    );
  approving(x.command('thread <parts...>'))
    .description('post a thread, one argument per part; - reads parts between lines of ---')
    .option('--dry-run', 'check it and show what would happen')
    .action(async (parts, options, command) => (await posting()).thread(globals(command), parts, options));
  addAgenda(x);
  addXViews(x);
  const sandbox = () => import('./commands/x-sandbox.ts');
  const box = x.command('sandbox').description('the local stand-in of X');
  box
    .command('status', { isDefault: true })
    .description('whether it is in use, and what it holds')
    .action(async (_options, command) => (await sandbox()).sandboxStatus(globals(command)));
  box
    .command('reset')
    .description('back to its first state')
    .action(async (_options, command) => (await sandbox()).sandboxReset(globals(command)));
}

function addAgenda(x: Command): void {
  const load = () => import('./commands/x-schedule.ts');
  const schedule = x.command('schedule').description('posts that go out later');
  schedule
    .command('list', { isDefault: true })
    .description('what is scheduled')
    .option('--past', 'also what was posted or cancelled')
    .option('--limit <n>', 'most rows')
    .action(async (options, command) => (await load()).listSchedule(globals(command), options));
  approving(schedule.command('add <text>'))
    .description('schedule a post')
    .requiredOption('--at <time>', 'like 2026-03-01T09:15; without a zone, in [schedule] timezone')
    .option('--thread', 'the text has lines of --- between the parts of a thread')
    .action(async (text, options, command) => (await load()).schedulePost(globals(command), text, options));
  schedule
    .command('move <id>')
    .description('another time; a draft gets one')
    .requiredOption('--at <time>', 'the new time')
    .action(async (id, options, command) => (await load()).moveItem(globals(command), id, options));
  schedule
    .command('cancel <id>')
    .description('take it off the list')
    .action(async (id, _options, command) => (await load()).cancelItem(globals(command), id));
  const drafts = x.command('drafts').description('texts that are not scheduled');
  drafts
    .command('list', { isDefault: true })
    .description('all of them, failed posts included')
    .option('--limit <n>', 'most rows')
    .action(async (options, command) => (await load()).listDrafts(globals(command), options));
  approving(drafts.command('add <text>'))
    .description('keep a text')
    .option('--thread', 'the text has lines of --- between the parts of a thread')
    .action(async (text, options, command) => (await load()).addDraft(globals(command), text, options));
  drafts
    .command('cancel <id>')
    .description('take it off the list')
    .action(async (id, _options, command) => (await load()).cancelItem(globals(command), id));
}

function addXViews(x: Command): void {
  const feed = () => import('./commands/x-feed.ts');
  const stats = () => import('./commands/x-stats.ts');
  x.command('feed')
    .description('posts worth a reply, as discovery found them')
    .option('--limit <n>', 'most posts', '10')
    .option('--min-score <score>', 'only from this score on')
    .action(async (options, command) => (await feed()).feed(globals(command), options));
  x.command('mentions')
    .description('who mentioned the account')
    .action(async (_options, command) => (await feed()).mentions(globals(command)));
  x.command('score <post>')
    .description('is a post worth a reply?')
    .action(async (id, _options, command) => (await feed()).score(globals(command), id));
  x.command('targets')
    .description('the accounts that are watched')
    .action(async (_options, command) => (await feed()).targets(globals(command)));
  x.command('stats')
    .description('followers, posts and what worked')
    .option('--days <n>', 'how many days back', '7')
    .action(async (options, command) => (await stats()).xStats(globals(command), options));
  x.command('usage')
    .description('requests, cost and safety limits')
    .option('--days <n>', 'how many days back', '7')
    .action(async (options, command) => (await stats()).xUsage(globals(command), options));
}

function addDev(program: Command): void {
  const runs = () => import('./commands/dev-runs.ts');
  const forge = () => import('./commands/dev-forge.ts');
  const reports = () => import('./commands/dev-reports.ts');
  const repo = (command: Command): Command =>
    command.option('--repo <name>', 'repository; without it the clone you are in');
  const listing = (command: Command): Command =>
    repo(command)
      .addOption(
        new Option('--state <state>', 'which ones').choices(['open', 'closed', 'all']).default('open'),
      )
      .option('--limit <n>', 'most rows', '50');
  const dev = program.command('dev').description('code repositories: runs, issues, pull requests');
  dev
    .command('repos')
    .description('repositories you can use')
    .action(async (_options, command) => (await runs()).listRepos(globals(command)));
  dev
    .command('runs')
    .description('what agents worked on, newest first')
    .option('--repo <name>', 'only this repository')
    .option('--limit <n>', 'most rows', '50')
    .action(async (options, command) => (await runs()).listRuns(globals(command), options));
  dev
    .command('run <id>')
    .description('one run with every call in it')
    .action(async (id, _options, command) => (await runs()).showRun(globals(command), id));
  listing(dev.command('issues').description('issues of a repository')).action(async (options, command) =>
    (await forge()).listIssues(globals(command), options),
  );
  const issue = dev.command('issue').description('one issue');
  repo(issue.command('show <number>').description('its text')).action(async (number, options, command) =>
    (await forge()).showIssue(globals(command), number, options),
  );
  approving(repo(issue.command('close <number>').description('close an issue of the local forge'))).action(
    async (number, options, command) => (await forge()).closeIssue(globals(command), number, options),
  );
  listing(dev.command('prs').description('pull requests of a repository')).action(async (options, command) =>
    (await forge()).listPulls(globals(command), options),
  );
  const pr = dev.command('pr').description('one pull request');
  repo(pr.command('show <number>').description('text, files and comments')).action(
    async (number, options, command) => (await forge()).showPull(globals(command), number, options),
  );
  repo(pr.command('diff <number>').description('the change itself')).action(
    async (number, options, command) => (await forge()).diffPull(globals(command), number, options),
  );
  approving(repo(pr.command('merge <number>').description('merge a pull request of the local forge')))
    .option('--squash', 'as one commit')
    .option('--expect <commit>', 'only if the branch still stands on this commit')
    .action(async (number, options, command) => (await forge()).mergePull(globals(command), number, options));
  approving(
    repo(pr.command('close <number>').description('close one of the local forge without merging')),
  ).action(async (number, options, command) => (await forge()).closePull(globals(command), number, options));
  dev
    .command('reports')
    .description('what tests and linters said, newest first')
    .option('--run <id>', 'only of this run')
    .option('--limit <n>', 'most rows', '20')
    .action(async (options, command) => (await reports()).listReports(globals(command), options));
  dev
    .command('report <call>')
    .description('one report with the output')
    .action(async (call, _options, command) => (await reports()).showReport(globals(command), call));
}

function addResearch(program: Command): void {
  const project = () => import('./commands/research-project.ts');
  const research = program.command('research').description('qualitative research on QualCoder projects');
  approving(research.command('create <path>'))
    .description('a new project that QualCoder opens too')
    .option('--memo <text>', 'what the project is about')
    .option('--coder <name>', 'your coder name in it')
    .action(async (path, options, command) =>
      (await project()).createProject(globals(command), path, options),
    );
  approving(research.command('open <path>'))
    .description('open a .qda project for you and your agents')
    .action(async (path, options, command) => (await project()).openProject(globals(command), path, options));
  approving(research.command('close'))
    .description('close the project')
    .action(async (options, command) => (await project()).closeProject(globals(command), options));
  research
    .command('status')
    .description('the open project and what waits in it')
    .action(async (_options, command) => (await project()).projectStatus(globals(command)));
  research
    .command('sources')
    .description('its sources')
    .action(async (_options, command) => (await project()).listSources(globals(command)));
  research
    .command('codebook')
    .description('its codes as a tree')
    .option('--memos', 'with their memos')
    .action(async (options, command) => (await project()).codebook(globals(command), options));
  addExchange(research);
  addChanges(research);
  addStatistics(research);
  addPrivacy(research);
}

function addExchange(research: Command): void {
  const load = () => import('./commands/research-exchange.ts');
  approving(research.command('import <files...>'))
    .description('add txt, md, docx, pdf, srt, vtt, csv (a survey), or one qdpx or qdc')
    .action(async (files, options, command) => (await load()).importFiles(globals(command), files, options));
  research
    .command('export [file]')
    .description('write the project, its codebook or its coded segments')
    .addOption(
      new Option('--format <format>', 'of the file').choices(['qdpx', 'qdc', 'csv', 'xlsx', 'html', 'md']),
    )
    .addOption(new Option('--content <what>', 'for csv, xlsx, html and md').choices(['segments', 'codebook']))
    .option('--private-memos', 'also the private part of memos')
    .option('--no-media', 'qdpx without recordings, pictures and PDF files')
    .option('--force', 'replace the file')
    .action(async (file, options, command) => (await load()).exportProject(globals(command), file, options));
}

function addChanges(research: Command): void {
  const undoing = () => import('./commands/research-undo.ts');
  const report = () => import('./commands/research-report.ts');
  research
    .command('changes')
    .description('what was changed, newest first')
    .option('--limit <n>', 'most rows', '20')
    .action(async (options, command) => (await undoing()).listChanges(globals(command), options));
  approving(research.command('undo [change]'))
    .description('take back the last change, or one by number')
    .option('--call <id>', 'what this call did')
    .action(async (change, options, command) => (await undoing()).undo(globals(command), change, options));
  research
    .command('audit-trail [file]')
    .description('what agents and people did, ready for a methods section')
    .option('--force', 'replace the file')
    .action(async (file, options, command) => (await report()).auditTrail(globals(command), file, options));
  research
    .command('mcp-json [place]')
    .description('write .mcp.json, by which agents find the server, in a folder')
    .action(async (place, _options, command) => (await report()).mcpJson(globals(command), place));
}

function addStatistics(research: Command): void {
  const load = () => import('./commands/research-statistics.ts');
  research
    .command('agreement')
    .description('how far coders agree, people and agents, with intervals')
    .addOption(
      new Option('--unit <unit>', 'what is compared').choices(['character', 'segment']).default('character'),
    )
    .option('--per-source', 'also for each source')
    .action(async (options, command) => (await load()).agreement(globals(command), options));
  research
    .command('frequencies')
    .description('how often each code is used')
    .action(async (_options, command) => (await load()).frequencies(globals(command)));
  research
    .command('cooccurrence')
    .description('which codes meet in the text')
    .option('--limit <n>', 'most pairs', '50')
    .action(async (options, command) => (await load()).coOccurrence(globals(command), options));
  research
    .command('matrix')
    .description('codes by cases')
    .option('--characters', 'count characters instead of segments')
    .action(async (options, command) => (await load()).caseMatrix(globals(command), options));
}

function addPrivacy(research: Command): void {
  const load = () => import('./commands/research-privacy.ts');
  const limits = research.command('off-limits').description('sources closed to agents');
  limits
    .command('list', { isDefault: true })
    .description('which ones')
    .action(async (_options, command) => (await load()).listOffLimits(globals(command)));
  for (const closed of [true, false]) {
    approving(limits.command(closed ? 'add <source>' : 'remove <source>'))
      .description(closed ? 'close a source, by number or name' : 'open it again')
      .action(async (source, options, command) =>
        (await load()).setOffLimits(globals(command), source, closed, options),
      );
  }
  const names = research.command('pseudonyms').description('names that agents never read');
  names
    .command('list', { isDefault: true })
    .description('the map')
    .action(async (_options, command) => (await load()).listPseudonyms(globals(command)));
  approving(names.command('set <name> <pseudonym>'))
    .description('agents read the pseudonym')
    .action(async (name, pseudonym, options, command) =>
      (await load()).setPseudonym(globals(command), name, pseudonym, options),
    );
  approving(names.command('remove <name>'))
    .description('agents read the name again')
    .action(async (name, options, command) =>
      (await load()).removePseudonym(globals(command), name, options),
    );
}
