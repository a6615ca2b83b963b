import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildChild } from '../../../../test/support/child.ts';
import { type App, openApp } from '../../../app/app.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { createEngine } from '../growth/engine.ts';
import { postDue } from '../growth/scheduler.ts';
import type { XServices } from '../services.ts';
import { openXPlace, type XPlace } from './support/place.ts';
import { startXWire, type XWire } from './support/wire.ts';

/** Every step from claim to written down, in the order a scheduled post passes them. */
const POINTS = [
  'before-claim',
  'after-claim',
  'inside-intent',
  'after-intent',
  'before-request',
  'after-request',
  'inside-outcome',
  'after-outcome',
  'after-settle',
] as const;

const MINUTE = 60_000;
const NEVER = new AbortController().signal;

describe('a scheduled post whose daemon is killed', () => {
  let wire: XWire;
  let preload: string;
  let place: XPlace;
  beforeAll(async () => {
    [wire, preload] = await Promise.all([startXWire(), buildChild('x-kill-at')]);
  });
  afterAll(() => wire.close());
  afterEach(() => place.close());

  /** The whole product on the same store, at another time. */
  const at = async <T>(shift: number, work: (app: App) => Promise<T>): Promise<T> => {
    const now = () => new Date(Date.now() + shift);
    const app = await openApp({ env: { COUNTERSIGN_HOME: place.dir, HOME: place.dir }, now });
    return work(app).finally(() => app.close());
  };
  const call = async (app: App, tool: string, args: JsonObject): Promise<void> => {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    const { outcome } = await app.kernel.invoke({ bound, args, principal: app.person, transport: 'test' });
    if (outcome.status === 'routed') await app.kernel.approvals.approve(outcome.approvalId, app.person);
    else expect(outcome).toMatchObject({ status: 'ok' });
  };

  /** Scheduled by a person a while ago, and due now. */
  const schedule = async (text: string): Promise<void> => {
    place = await openXPlace({ config: wire.settings, policy: '', tokens: wire.tokens });
    const scheduled_for = new Date(Date.now() - 5 * MINUTE).toISOString();
    await at(-10 * MINUTE, (app) => call(app, 'compose_tweet', { content: text, scheduled_for }));
  };

  const killedAt = (point: string): Promise<string | null> => {
    const main = resolve(process.env.TEST_DIST ?? 'dist', 'main.js');
    const env = { PATH: process.env.PATH, HOME: place.dir, COUNTERSIGN_HOME: place.dir, KILL_AT: point };
    const args = ['--import', preload, main, 'up', '--port', '0'];
    const daemon = spawn(process.execPath, args, { env, stdio: 'ignore' });
    return new Promise((done) => daemon.once('close', (_code, signal) => done(signal)));
  };

  const servicesOf = async (app: App) => (await (await app.inventory.load('x')).services()) as XServices;
  /** What the next daemon does: look at what was interrupted, then at what is due. */
  const carryOn = (shift: number) =>
    at(shift, async (app) => {
      const recovered = await app.kernel.recover();
      const services = await servicesOf(app);
      await postDue(createEngine(services, 'next'), NEVER);
      const states = ['scheduled', 'claimed', 'posted', 'failed', 'waiting_approval'] as const;
      const [item] = await services.growth.contentQueue.list(states, 1);
      const open = await app.kernel.telemetry.calls({ statuses: ['running', 'indeterminate'] });
      return { recovered, item, open };
    });
  const onX = async (text: string): Promise<string[]> => {
    const { items } = await wire.sandbox.control('look', { collection: 'posts' });
    return (items as { id: string; text: string }[]).filter((post) => post.text === text).map(({ id }) => id);
  };

  it.each(POINTS)('%s is on X once when the next daemon has looked', async (point) => {
    const text = `Words that must go out though the daemon died ${point}`;
    await schedule(text);
    expect(await killedAt(point)).toBe('SIGKILL');
    const { item, open } = await carryOn(MINUTE);
    const [id, ...more] = await onX(text);
    expect(more).toEqual([]);
    expect(item).toMatchObject({ state: 'posted', tweet_id: id });
    expect(open).toEqual([]);
  });

  it('stays in doubt while X cannot be asked, is not sent again, and is settled by what X shows', async () => {
    const text = 'Words with an unknown outcome';
    await schedule(text);
    expect(await killedAt('after-request')).toBe('SIGKILL');
    await wire.cut();
    const doubtful = await carryOn(MINUTE);
    expect(doubtful.recovered).toMatchObject({ interrupted: 1, settled: 0, open: 1 });
    expect(doubtful.item).toMatchObject({ state: 'claimed', error_code: 'indeterminate' });
    expect(doubtful.open).toMatchObject([{ tool: 'x_post_tweet', status: 'indeterminate' }]);
    await wire.reconnect();
    const settled = await carryOn(10 * MINUTE);
    expect(settled.recovered).toMatchObject({ settled: 1, open: 0 });
    const [id, ...more] = await onX(text);
    expect(more).toEqual([]);
    expect(settled.item).toMatchObject({ state: 'posted', tweet_id: id });
  });
});
