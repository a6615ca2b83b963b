import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Principal } from '../../contract/principal.ts';
import type { Ports } from '../ports.ts';
import { AGENT_PAUSED } from '../store/pause.ts';
import type { CallRequest, Step } from './call.ts';
import { checkCaller } from './caller.ts';
import { DONE, openSteps, rawCall, type StepStore, toolNamed } from './steps.fixture.ts';

const read = toolNamed('ledger_read');
const PAUSED = { status: 'refused', rule: 'hard:agent_paused', fault: { code: 'agent_paused' } };

let steps: StepStore;
let ports: Ports;
let step: Step;
let at: number;
beforeEach(async () => {
  steps = await openSteps();
  at = Date.parse('2026-03-02T10:30:00Z');
  ports = { ...steps.ports, now: () => new Date(at) };
  step = checkCaller(ports);
});
afterEach(() => steps.store.close());

const send = (more: Partial<CallRequest> = {}, tool = read): Promise<Outcome> =>
  step(rawCall(tool, {}, more), async () => DONE);
const by = (kind: Principal['kind'], id: string) => send({ principal: { kind, id } });
const pause = (id: string) =>
  steps.store.database.db
    .insertInto('settings')
    .values({ key: `${AGENT_PAUSED}${id}`, value: 'person:ada' })
    .execute();
/** A database from which nothing can be read. */
const breakDatabase = () => {
  const db = {
    selectFrom() {
      throw new Error('disk I/O error');
    },
  };
  step = checkCaller({ ...ports, database: { ...ports.database, db } as never });
};

describe('the caller', () => {
  it('is refused while paused, with its name; other agents, people and the system are not', async () => {
    await pause('local');
    const refused = await send();
    expect(refused).toMatchObject({ ...PAUSED, fault: { detail: { agent: 'local' } } });
    expect(await by('agent', 'robin')).toBe(DONE);
    expect(await by('person', 'local')).toBe(DONE);
    expect(await by('system', 'local')).toBe(DONE);
    expect(await send()).toMatchObject(PAUSED);
  });

  it('is stopped a second after the pause at the latest, and not asked about before', async () => {
    expect(await send()).toBe(DONE);
    await pause('local');
    at += 999;
    expect(await send()).toBe(DONE);
    at += 1;
    expect(await send()).toMatchObject(PAUSED);
    await steps.store.database.db.deleteFrom('settings').execute();
    at += 999;
    expect(await send()).toMatchObject(PAUSED);
    // A clock that was set back does not keep an old answer.
    at -= 5_000;
    expect(await send()).toBe(DONE);
  });

  it('whose transport has no room is refused with its error for every principal', async () => {
    const refusal = new ToolError('busy', 'Too many calls.');
    const expected = { status: 'refused', rule: 'hard:fair_share', fault: refusal };
    expect(await send({ refusal })).toEqual(expected);
    expect(await send({ refusal, principal: { kind: 'person', id: 'ada' } })).toEqual(expected);
  });

  it('is not answered when pauses cannot be read, unless the tool reports on the server', async () => {
    breakDatabase();
    expect(await by('person', 'ada')).toBe(DONE);
    await expect(send()).rejects.toThrow('disk I/O error');
    at += 1_000;
    expect(await send({}, { ...read, alwaysAnswers: true })).toBe(DONE);
  });
});
