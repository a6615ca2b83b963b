import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectStdio, createHome, type Session } from '../../../../../test/e2e/support.ts';
import { type App, openApp } from '../../../../app/app.ts';
import type { JsonObject } from '../../../../contract/json.ts';
import { LOCAL_AGENT } from '../../../../contract/principal.ts';
import { askInAdvance, putMedia } from './call-world.ts';

export interface Envelope {
  readonly success: boolean;
  readonly data: JsonObject | null;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly rate_limit_reset?: string;
    readonly policy_decision?: string;
    readonly detail?: JsonObject;
  };
  readonly meta: JsonObject;
}

export interface Answer extends Envelope {
  readonly isError: boolean;
}

/** The built server on a data directory of its own, with a client of every tool and a person at the same store. */
export interface XPlace {
  readonly dir: string;
  /** What the person does, in this process: approve, pause, change the rules. */
  readonly app: App;
  call(tool: string, args: JsonObject): Promise<Answer>;
  /** As a client that can put no question to its person. */
  callMute(tool: string, args: JsonObject): Promise<Answer>;
  /** Lets the agent make one exact call that would otherwise wait for a person. */
  permit(tool: string, args: JsonObject): Promise<void>;
  close(): Promise<void>;
}

/** Generous limits, so that a test meets only the one it is about. */
const LIMITS = [
  '[limits]',
  'max_replies_per_day = 1000',
  'max_tweets_per_day = 1000',
  'max_threads_per_week = 1000',
  'max_replies_per_author_per_day = 1000',
  'min_action_delay_seconds = 0',
  'max_action_delay_seconds = 0',
].join('\n');

export const POLICY = '[mcp_policy]\ntemplate = "none"\nmax_mutations_per_hour = 100000\n';

export async function openXPlace(options: {
  readonly config: string;
  readonly policy?: string;
  readonly tokens?: string;
}): Promise<XPlace> {
  const { config, policy = POLICY, tokens } = options;
  const home = createHome(
    `toolkits = ["x"]\n${config}\n${policy}\n${LIMITS}\n${DIALOGS}\n[log]\nlevel = "silent"\n`,
  );
  if (tokens) writeFileSync(join(home.dir, 'x-tokens.json'), tokens, { mode: 0o600 });
  putMedia(home.dir);
  const app = await openApp({ env: { COUNTERSIGN_HOME: home.dir, HOME: home.dir } });
  const asking = { capabilities: { elicitation: { form: {} } } };
  const sessions = new Map<string, Promise<Session>>();
  const session = (kind: 'admin' | 'api-readonly' | 'mute') => {
    const profile = kind === 'api-readonly' ? kind : 'admin';
    const opened = sessions.get(kind) ?? connect(home, ['--profile', profile], kind === 'mute' ? {} : asking);
    sessions.set(kind, opened);
    return opened;
  };
  const call = async (kind: 'admin' | 'api-readonly' | 'mute', name: string, args: JsonObject) => {
    // The client checks structured content against the listed output schema and throws when it does not match.
    const { client } = await session(kind);
    const result = await client.callTool({ name, arguments: args });
    return { ...(result.structuredContent as unknown as Envelope), isError: result.isError === true };
  };
  return {
    dir: home.dir,
    app,
    call: (name, args) => call(name === 'x_get_me' ? 'api-readonly' : 'admin', name, args),
    callMute: (name, args) => call('mute', name, args),
    async permit(tool, args) {
      const { approvals } = app.kernel;
      const { id } = await askInAdvance(app, {
        tool,
        args,
        kind: 'permit',
        requester: LOCAL_AGENT,
        reason: 'for this test',
      });
      await approvals.approve(id, app.person);
    },
    async close() {
      for (const opened of sessions.values()) await (await opened).close();
      await app.close();
      home.close();
    },
  };
}

/** Its approve tools decide on an X that counts as live. */
const DIALOGS = '[approvals]\ndialogs = "all"';

async function connect(
  home: Parameters<typeof connectStdio>[0],
  args: readonly string[],
  options: Parameters<typeof connectStdio>[2] = {},
): Promise<Session> {
  const session = await connectStdio(home, args, options);
  if (options.capabilities)
    session.client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { confirm: true },
    }));
  await session.client.listTools();
  return session;
}
