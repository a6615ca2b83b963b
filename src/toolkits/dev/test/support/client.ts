import { expect } from 'vitest';
import { connectStdio, type Home, type Session } from '../../../../../test/e2e/support.ts';
import type { JsonObject, JsonValue } from '../../../../contract/json.ts';

/** The documented reply of every tool of toolkit dev. */
export interface Envelope<T = JsonObject> {
  readonly ok: boolean;
  readonly meta: JsonObject;
  readonly result: T;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly detail?: JsonObject;
  };
}

export const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const EVIDENCE = expect.stringMatching(/^[0-9a-f]{64}$/);
export const ARTIFACT = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
export const COMMIT = expect.stringMatching(/^[0-9a-f]{40}$/);
export const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

/** `meta` as documented, with nothing else in it. */
export const metaOf = (run_id: string, more: JsonObject = {}) => ({
  run_id,
  tool_call_id: UUID,
  evidence_hash: EVIDENCE,
  dry_run: false,
  ...more,
});

/** An agent at the tools of toolkit dev, with a person at the command line next to it. */
export class DevClient {
  readonly session: Session;
  readonly home: Home;

  constructor(session: Session, home: Home) {
    this.session = session;
    this.home = home;
  }

  static async open(home: Home, env: Record<string, string> = {}): Promise<DevClient> {
    return new DevClient(await connectStdio(home, ['--toolkits', 'dev'], { env }), home);
  }

  async call<T = JsonObject>(name: string, args: JsonObject): Promise<Envelope<T>> {
    // The client checks structured content against the listed output schema and throws when it does not match.
    const { structuredContent, isError, content } = await this.session.client.callTool({
      name,
      arguments: args,
    });
    const reply = structuredContent as unknown as Envelope<T>;
    const [text] = content as { text: string }[];
    expect(JSON.parse(text?.text ?? ''), name).toEqual(reply);
    expect(isError ?? false, name).toBe(!reply.ok);
    return reply;
  }

  /** A call that must succeed. */
  async ok<T = JsonObject>(name: string, args: JsonObject): Promise<Envelope<T>> {
    const reply = await this.call<T>(name, args);
    expect(reply.ok, `${name}: ${reply.error?.code} ${reply.error?.message}`).toBe(true);
    return reply;
  }

  /** The code of a call that must not succeed. */
  async refused(name: string, args: JsonObject): Promise<NonNullable<Envelope['error']>> {
    const { ok, error } = await this.call(name, args);
    expect(ok, name).toBe(false);
    if (!error) throw new Error(`${name} gave no error.`);
    return error;
  }

  async run(repo: string): Promise<string> {
    return String((await this.ok('runs_create', { repo, purpose: 'every tool' })).result.run_id);
  }

  /** Asks for a permit, which the person at the command line gives. */
  async permit(args: JsonObject, tool?: string): Promise<string> {
    const approval_id = await this.ask(args, tool);
    this.home.cli('approvals', 'approve', approval_id);
    return approval_id;
  }

  async ask(args: JsonObject, tool = 'code_branch_pr_create'): Promise<string> {
    const request = { tool, arguments: args as JsonValue, reason: 'please' };
    const { structuredContent } = await this.session.client.callTool({
      name: 'approval_request',
      arguments: request as JsonObject,
    });
    return String((structuredContent as { approval_id: string }).approval_id);
  }

  close(): Promise<void> {
    return this.session.close();
  }
}
