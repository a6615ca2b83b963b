import type { App } from '../app/app.ts';
import { CliError } from '../contract/command.ts';
import { describeInbox } from '../contract/ports.ts';
import { findRunningInbox } from '../daemon/running-server.ts';
import { findAgentVariable } from '../lib/agent-shell.ts';

type Here = Pick<App, 'env' | 'config' | 'database'>;

/**
 * Every command that decides, or loosens what is decided, calls this first: such a command belongs to a person. An agent
 * that wants to can still get around it, because it runs as the same user; the guard is against accidents.
 */
export async function requirePersonHere(app: Here, approval?: number): Promise<void> {
  await refuseAgentShell(app, approval);
  if (app.config.approvals.without_terminal || (process.stdin.isTTY && process.stdout.isTTY)) return;
  throw new CliError(
    `This command decides for you and needs a terminal on standard input and output. Decide in ${await inbox(app, approval)}, or set without_terminal = true under [approvals] in ${app.config.path} for scripts of yours.`,
  );
}

/** For commands that also work in scripts but give a person's rights away, such as a link that signs in. */
export async function refuseAgentShell(app: Here, approval?: number): Promise<void> {
  const variable = findAgentVariable(app.env);
  if (variable === undefined) return;
  throw new CliError(
    `This command is for people, and ${variable} says that an AI agent runs it. A person decides in ${await inbox(app, approval)}`,
  );
}

const inbox = async (app: Here, approval?: number): Promise<string> =>
  describeInbox(await findRunningInbox(app, approval));
