import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

const settled = async (promise: Promise<void>): Promise<boolean> => {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return done;
};

it('lets one call at a time pass, in order', async () => {
  const turns = new Turns();
  const [a, b] = [{ principal: 'ada' }, { principal: 'ada' }];
  expect(await settled(turns.take(a))).toBe(true);
  const second = turns.take(b);
  expect(await settled(second)).toBe(false);
  turns.leave(a);
  expect(await settled(second)).toBe(true);
});

it('lets calls of the same principal pass one that waits for an answer, and no other principal', async () => {
  const turns = new Turns();
  const [a, b, other] = [{ principal: 'ada' }, { principal: 'ada' }, { principal: 'bob' }];
  await turns.take(a);
  const waiting = turns.take(other);
  turns.ask(a);
  expect(await settled(waiting)).toBe(false);
  expect(await settled(turns.take(b))).toBe(true);
  const again = turns.take(a);
  expect(await settled(again)).toBe(false);
  turns.leave(b);
  expect(await settled(again)).toBe(true);
  turns.leave(a);
  expect(await settled(waiting)).toBe(true);
});

it('frees no turn but its own when a call that waits for an answer ends', async () => {
  const turns = new Turns();
  const [a, b, c] = [{ principal: 'ada' }, { principal: 'ada' }, { principal: 'ada' }];
  await turns.take(a);
  turns.ask(a);
  await turns.take(b);
  const third = turns.take(c);
  turns.leave(a);
  expect(await settled(third)).toBe(false);
  turns.leave(b);
  expect(await settled(third)).toBe(true);
});

it('gives up the place of a call that is cancelled', async () => {
  const turns = new Turns();
  const a = { principal: 'ada' };
  await turns.take(a);
  const stop = new AbortController();
  const cancelled = turns.take({ principal: 'ada', signal: stop.signal });
  stop.abort(new Error('cancelled'));
  await expect(cancelled).rejects.toThrow('cancelled');
  const next = turns.take({ principal: 'bob' });
  turns.leave(a);
  expect(await settled(next)).toBe(true);
});
