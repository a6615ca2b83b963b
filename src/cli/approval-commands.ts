import { type Command, Option } from 'commander';
import { globals } from './globals.ts';

export function addApprovalCommands(program: Command): void {
  const load = () => import('./commands/approvals.ts');
  const loadDeciding = () => import('./commands/approvals-decide.ts');
  program
    .command('review')
    .description('Decide pending approvals one by one, with one key each')
    .action(async (_options, command) => (await import('./commands/review.ts')).review(globals(command)));
  const approvals = program.command('approvals').description('List and decide approvals');
  approvals
    .command('list', { isDefault: true })
    .description('List pending approvals, destructive calls first, with totals')
    .option('--state <states>', 'states to list, such as pending,done (default: pending), or all')
    .option('--toolkit <id>', 'only this toolkit or server')
    .option('--agent <name>', 'only requests of this agent')
    .option('--tool <name>', 'only this tool')
    .option('--environment <name>', 'only live, sandbox or local')
    .option('--effect <name>', 'only change, destroy or read')
    .option('--run <id>', 'only this run')
    .option('--since <span>', 'only requests of the last 30m, 24h or 7d')
    .option('--search <text>', 'only those that contain this text')
    .option('--limit <n>', 'maximum number of rows', '50')
    .action(async (options, command) => (await load()).listApprovals(globals(command), options));
  approvals
    .command('show <id>')
    .description('Show one approval as it is presented for a decision')
    .option('--args', 'also print the exact arguments as JSON')
    .option('--diff', 'print only the diff of a code change, exactly as `git diff --binary` prints it')
    .action(async (id, options, command) => (await load()).showApproval(globals(command), id, options));
  approvals
    .command('approve [ids...]')
    .description('Approve; a queued call runs immediately')
    .option('--all', 'approve all pending')
    .option('--batch <id>', 'approve the pending ones of this batch')
    .option('--prepare', 'first make the call that an approval needs, such as opening its project')
    .option('--note <text>', 'note stored with the decision')
    .action(async (ids, options, command) => (await loadDeciding()).approve(globals(command), ids, options));
  approvals
    .command('reject [ids...]')
    .description('Reject one approval, or many; the calls are not run')
    .option('--batch <id>', 'reject the pending ones of this batch')
    .option('--agent <name>', 'reject all pending requests of this agent')
    .option('--tool <name>', 'reject all pending requests for this tool')
    .option('--all', 'reject all pending')
    .option('--reason <text>', 'reason shown to the agent')
    .option('--feedback <text>', 'what the agent should do instead')
    .action(async (ids, options, command) => (await loadDeciding()).reject(globals(command), ids, options));
  approvals
    .command('withdraw <id>')
    .description('Withdraw an unused permit or a pending request')
    .action(async (id, _options, command) => (await load()).withdraw(globals(command), id));
  approvals
    .command('edit <id>')
    .description('Change the arguments before approving')
    .addOption(new Option('--args <json>', 'new arguments as JSON').conflicts('file'))
    .option('--file <file>', 'file with the new arguments; - reads standard input')
    .action(async (id, options, command) => (await load()).editApproval(globals(command), id, options));
  approvals
    .command('permit <tool>')
    .description('Permit an agent to make one exact call, once')
    .requiredOption('--args <json>', 'exact arguments as JSON')
    .option('--for <agent>', 'agent that may make the call', 'local')
    .option('--reason <text>', 'reason stored with the permit')
    .action(async (tool, options, command) => (await load()).permit(globals(command), tool, options));
  const standing = approvals
    .command('standing')
    .description('Approve calls of an agent in advance: answers an ask, never a deny');
  const loadStanding = () => import('./commands/standing.ts');
  standing
    .command('list', { isDefault: true })
    .description('List standing approvals with their uses')
    .action(async (_options, command) => (await loadStanding()).listStanding(globals(command)));
  standing
    .command('add')
    .description('Test a standing approval on past calls; save it with --yes')
    .option('--from <id>', 'approval to start from: every argument exactly as in that call')
    .option('--agent <name>', 'agent it is for')
    .option('--tool <name>', 'tool it is for')
    .option(
      '--where <condition>',
      'condition on one argument, such as text:any, text:starts_with:Hello or text:links_only:acme.dev',
      (value: string, all: string[]) => [...all, value],
      [] as string[],
    )
    .option('--until <time>', 'when it ends: 12h, 7d or a time (default: 7d)')
    .option('--uses <n>', 'how many calls it answers (default: 10)')
    .option('--yes', 'save it')
    .action(async (options, command) => (await loadStanding()).addStanding(globals(command), options));
  standing
    .command('revoke <id>')
    .description('Revoke a standing approval; such calls require approval again')
    .action(async (id, _options, command) => (await loadStanding()).revokeStanding(globals(command), id));
  approvals
    .command('settle <call>')
    .description('Record whether an indeterminate change happened')
    .addOption(new Option('--happened', 'the change happened').conflicts('notHappened'))
    .option('--not-happened', 'the change did not happen')
    .action(async (call, options, command) => (await load()).settle(globals(command), call, options));
  for (const paused of [true, false]) {
    program
      .command(paused ? 'pause' : 'resume')
      .description(
        paused
          ? 'Refuse all new changes immediately'
          : 'Lift the pause; changes run again, subject to policy',
      )
      .action(async (_options, command) =>
        (await import('./commands/pause.ts')).setPaused(globals(command), paused),
      );
  }
}
