import type { Command } from 'commander';
import type { HostOf, ToolkitCommands } from '../../contract/command.ts';

export const commands: ToolkitCommands = {
  order: 1,
  add(program, host) {
    addAuth(program, host);
    addX(program, host);
  },
};

const approving = (command: Command): Command =>
  command.option('--approve', 'if approval is required, approve immediately');

const collect = (value: string, all: string[] = []): string[] => [...all, value];

function addAuth(program: Command, host: HostOf): void {
  addSignIn(program.command('auth').description('Sign in to services'), 'x', host);
}

/** Adds one command under two names, because people look for it under `auth` and under `x`. */
function addSignIn(group: Command, name: string, host: HostOf): void {
  const load = () => import('./cli/account.ts');
  const signIn = group
    .command(name)
    .description('Sign in to your X account')
    .option('--paste', 'paste the final browser URL instead of using a local callback')
    .option('--scopes <list>', 'request only these scopes, such as tweet.read,users.read,offline.access')
    .option('--port <port>', 'port of the local callback')
    .option('--no-browser', 'only print the URL')
    .action(async (options, command) => (await import('./cli/sign-in.ts')).authX(host(command), options));
  signIn
    .command('status')
    .description('Show account, provider and missing scopes')
    .action(async (_options, command) => (await load()).xStatus(host(command)));
  signIn
    .command('sign-out')
    .description('Delete the tokens on this machine; does not revoke them at X')
    .action(async (_options, command) => (await load()).signOut(host(command)));
}

function addX(program: Command, host: HostOf): void {
  const posting = () => import('./cli/post.ts');
  const x = program.command('x').description('Use your X account or the sandbox');
  addSignIn(x, 'auth', host);
  x.command('status')
    .description('Show account, provider and missing scopes')
    .action(async (_options, command) => (await import('./cli/account.ts')).xStatus(host(command)));
  x.command('revoke')
    .description('Revoke access at X and delete the tokens on this machine')
    .action(async (_options, command) => (await import('./cli/account.ts')).revokeAccess(host(command)));
  approving(x.command('post <text>'))
    .description('Post a text; - reads it from standard input')
    .option('--media <file>', 'image or video from an allowed directory (repeatable)', collect)
    .option('--dry-run', 'check the call and show what would happen')
    .action(async (text, options, command) => (await posting()).post(host(command), text, options));
  approving(x.command('reply <post> <text>'))
    .description('Reply to a post, by ID or URL')
    .option('--media <file>', 'image or video from an allowed directory (repeatable)', collect)
    .action(async (id, text, options, command) => (await posting()).reply(host(command), id, text, options));
  approving(x.command('thread <parts...>'))
    .description('Post a thread, one argument per part; - reads parts separated by lines of ---')
    .option('--dry-run', 'check the call and show what would happen')
    .action(async (parts, options, command) => (await posting()).thread(host(command), parts, options));
  addAgenda(x, host);
  addXViews(x, host);
  const sandbox = () => import('./cli/sandbox.ts');
  const box = x.command('sandbox').description('Manage the local X sandbox');
  box
    .command('status', { isDefault: true })
    .description('Show whether the sandbox is in use and what it contains')
    .action(async (_options, command) => (await sandbox()).sandboxStatus(host(command)));
  box
    .command('reset')
    .description('Reset the sandbox to its seed data')
    .action(async (_options, command) => (await sandbox()).sandboxReset(host(command)));
}

function addAgenda(x: Command, host: HostOf): void {
  const load = () => import('./cli/schedule.ts');
  const schedule = x.command('schedule').description('Manage scheduled posts');
  schedule
    .command('list', { isDefault: true })
    .description('List scheduled posts')
    .option('--past', 'include posted and cancelled posts')
    .option('--limit <n>', 'maximum number of rows')
    .action(async (options, command) => (await load()).listSchedule(host(command), options));
  approving(schedule.command('add <text>'))
    .description('Schedule a post')
    .requiredOption('--at <time>', 'time such as 2026-03-01T09:15; without a zone, in schedule.timezone')
    .option('--thread', 'post a thread; lines of --- separate its parts')
    .action(async (text, options, command) => (await load()).schedulePost(host(command), text, options));
  schedule
    .command('move <id>')
    .description('Reschedule a post, or schedule a draft')
    .requiredOption('--at <time>', 'new time')
    .action(async (id, options, command) => (await load()).moveItem(host(command), id, options));
  schedule
    .command('cancel <id>')
    .description('Cancel a scheduled post or draft')
    .action(async (id, _options, command) => (await load()).cancelItem(host(command), id));
  const drafts = x.command('drafts').description('Manage drafts');
  drafts
    .command('list', { isDefault: true })
    .description('List drafts, including failed posts')
    .option('--limit <n>', 'maximum number of rows')
    .action(async (options, command) => (await load()).listDrafts(host(command), options));
  approving(drafts.command('add <text>'))
    .description('Save a draft')
    .option('--thread', 'post a thread; lines of --- separate its parts')
    .action(async (text, options, command) => (await load()).addDraft(host(command), text, options));
  drafts
    .command('cancel <id>')
    .description('Cancel a scheduled post or draft')
    .action(async (id, _options, command) => (await load()).cancelItem(host(command), id));
}

function addXViews(x: Command, host: HostOf): void {
  const feed = () => import('./cli/feed.ts');
  const stats = () => import('./cli/stats.ts');
  x.command('feed')
    .description('List posts worth a reply, found by discovery')
    .option('--limit <n>', 'maximum number of posts', '10')
    .option('--min-score <score>', 'minimum score')
    .action(async (options, command) => (await feed()).feed(host(command), options));
  x.command('mentions')
    .description('List posts that mention the account')
    .action(async (_options, command) => (await feed()).mentions(host(command)));
  x.command('score <post>')
    .description('Score a post as a candidate for a reply')
    .action(async (id, _options, command) => (await feed()).score(host(command), id));
  x.command('targets')
    .description('List the watched accounts')
    .action(async (_options, command) => (await feed()).targets(host(command)));
  x.command('stats')
    .description('Show followers, posts and engagement')
    .option('--days <n>', 'number of days to cover', '7')
    .action(async (options, command) => (await stats()).xStats(host(command), options));
  x.command('usage')
    .description('Show requests, cost and safety limits')
    .option('--days <n>', 'number of days to cover', '7')
    .action(async (options, command) => (await stats()).xUsage(host(command), options));
}
