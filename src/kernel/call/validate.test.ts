import { describe, expect, it } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval, Log } from '../../contract/ports.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Schema } from '../../contract/schema.ts';
import type { Tool } from '../../contract/tool.ts';
import { digest } from '../../lib/canonical.ts';
import type { CallRequest, CallState } from './call.ts';
import { DONE, rawCall, toolNamed, validCall } from './steps.fixture.ts';
import { checkMeaning, containErrors, validateInput } from './validate.ts';

const write = toolNamed('ledger_write');
const read = toolNamed('ledger_read');

const refusedWith = (call: CallState): ToolError => {
  try {
    void validateInput()(call, async () => DONE);
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error('The arguments were accepted.');
};
/** Takes everything and returns this. */
const parsedAs = (value: object): Partial<Tool> => ({
  input: { json: { type: 'object' }, parse: () => ({ ok: true, value }) },
});

describe('arguments', () => {
  it('that are missing are those of a call without any', async () => {
    for (const none of [undefined, null]) {
      const call = rawCall(read, none);
      expect(await validateInput()(call, async () => DONE)).toBe(DONE);
      expect([call.args, call.digest]).toEqual([{}, digest('ledger_read', {})]);
    }
  });

  it('that are not well-formed are refused before the schema sees them', () => {
    const parse = (): never => {
      throw new Error('The schema saw them.');
    };
    const call = rawCall({ ...write, input: { json: {}, parse } }, { text: 'a\u0000b' });
    const error = refusedWith(call);
    expect(error.code).toBe('invalid_input');
    expect(error.message).toMatch(/^Invalid arguments for ledger_write: .+\.$/);
    expect(refusedWith(rawCall(read, 'text')).code).toBe('invalid_input');
  });

  it('that are invalid are refused with the first ten issues and where each is', () => {
    const issues = Array.from({ length: 11 }, (_, index) => ({
      path: index === 0 ? '' : `f${index}`,
      message: 'is wrong',
      code: 'internal to the schema',
    }));
    const parse: Schema['parse'] = () => ({ ok: false, issues });
    const { message, detail } = refusedWith(rawCall({ ...write, input: { json: {}, parse } }, {}));
    expect(message).toContain(': is wrong; f1: is wrong; f2: is wrong');
    expect(message).toContain('f9: is wrong.');
    const shown = issues.slice(0, 10).map(({ path, message: said }) => ({ path, message: said }));
    expect(detail).toEqual({ issues: shown });
  });

  it('that a schema reads as unset are left out, so that the digest is the same', async () => {
    const call = await validCall({ ...read, ...parsedAs({ echo: 'hi', file: undefined }) }, {});
    expect(Object.keys(call.args)).toEqual(['echo']);
    expect(call.digest).toBe(digest('ledger_read', { echo: 'hi' }));
    const nothing = await validCall({ ...read, ...parsedAs({ echo: null, fail: false }) }, {});
    expect(nothing.args).toEqual({ echo: null, fail: false });
  });

  it('ask for a dry run only with the word true, and only where they are not a remote tool’s own', async () => {
    const dry = async (dry_run: unknown, more: Partial<Tool> = {}) =>
      (await validCall({ ...write, ...parsedAs({ text: 'a', dry_run }), ...more }, {})).dryRunRequested;
    expect(await dry(true)).toBe(true);
    expect(await dry('true')).toBe(false);
    expect(await dry(false)).toBe(false);
    expect(await dry(true, { governanceArgs: undefined })).toBe(false);
  });

  it('of a prepared call that was approved answer the call that was sent', async () => {
    const approved = async (context: JsonObject) => {
      const approval = { context } as Approval;
      return validCall(write, { text: 'a' }, { approval });
    };
    expect((await approved({ asked_digest: 'sent' })).askedDigest).toBe('sent');
    const without: readonly JsonObject[] = [{}, { asked_digest: 7 }];
    for (const context of without) {
      const call = await approved(context);
      expect(call.askedDigest).toBe(call.digest);
    }
  });

  it('say which run they belong to, also where the call is part of none or the tool has no runs', async () => {
    const runOf = async (tool: Tool, args: object, more: Partial<CallRequest> = {}) =>
      (await validCall(tool, args, more)).runId;
    expect(await runOf(write, { text: 'a', run_id: 'r' })).toBe('r');
    expect(await runOf(write, { text: 'a' })).toBeUndefined();
    const parent = { runId: 'whole' } as CallState;
    expect(await runOf(read, {}, { parent })).toBe('whole');
  });
});

describe('a call whose arguments are invalid', () => {
  const refused = (args: unknown, tool: Tool = write): CallState => {
    const call = rawCall(tool, args);
    refusedWith(call);
    return call;
  };

  it('belongs to its run, and was meant dry or not', () => {
    expect(refused({ run_id: 'r', dry_run: true })).toMatchObject({ runId: 'r', dryRunRequested: true });
    expect(refused({ run_id: 'r', dry_run: 'true' }).dryRunRequested).toBe(false);
    expect(refused({ run_id: 'r'.repeat(101) }).runId).toBeUndefined();
  });

  it('belongs to none where it names none, or the tool has no runs', () => {
    const runOf = (): never => {
      throw new Error('It reads a run ID that is not text.');
    };
    expect(refused({ run_id: 7 }, { ...write, runOf }).runId).toBeUndefined();
    expect(refused({ run_id: 'r', surprise: 1 }, read).runId).toBeUndefined();
  });

  it('is refused alike where they are not even an object', () => {
    const list = Object.assign(['list'], { dry_run: true, run_id: 'r' });
    for (const args of ['text', 7, list])
      expect(refused(args)).toMatchObject({ runId: undefined, dryRunRequested: false });
  });
});

describe('an error below the steps', () => {
  const contain = async (error: unknown) => {
    const said: unknown[] = [];
    const say = (...line: unknown[]): void => void said.push(line);
    const log: Log = { debug: say, info: say, warn: say, error: say };
    const call = rawCall(write, {});
    const outcome: Outcome = await containErrors({ log })(call, async () => {
      throw error;
    });
    return { call, said, fault: 'fault' in outcome ? outcome.fault : undefined };
  };

  it('of the database is named', async () => {
    const cause = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    const { call, said, fault } = await contain(cause);
    expect(fault).toMatchObject({ code: 'db_error', cause });
    expect(fault?.message).toMatch(/^Nothing was done\. The database is locked/);
    expect(said).toEqual([
      ['A step of the pipeline failed', { call: call.id, tool: 'ledger_write', error: cause }],
    ]);
  });

  it('of any other kind is kept as the cause', async () => {
    const cause = new TypeError('a bug');
    const { call, fault } = await contain(cause);
    expect(fault).toMatchObject({ code: 'internal', cause });
    expect(fault?.message).toContain(call.id);
  });
});

describe('the meaning of a call', () => {
  it('is checked with the services of its tool, for its principal', async () => {
    const checked: unknown[] = [];
    const check = (...given: unknown[]): void => void checked.push(...given);
    const call = await validCall({ ...write, check }, { text: 'a' });
    expect(await checkMeaning()(call, async () => DONE)).toBe(DONE);
    expect(checked).toEqual([{ text: 'a' }, {}, LOCAL_AGENT]);
  });

  it('needs no services where the tool checks nothing', async () => {
    const call = await validCall({ ...write, check: undefined }, { text: 'a' });
    const services = async (): Promise<never> => {
      throw new Error('No one asks for them.');
    };
    const { request } = call;
    const apart = { ...call, request: { ...request, bound: { ...request.bound, services } } };
    expect(await checkMeaning()(apart, async () => DONE)).toBe(DONE);
  });

  it('that is refused ends the call', async () => {
    const call = await validCall(write, { text: 'unspeakable' });
    await expect(checkMeaning()(call, async () => DONE)).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
