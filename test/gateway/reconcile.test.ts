import { afterEach, expect, it } from 'vitest';
import { openScripted, reader, type ScriptedPlace, tool } from './scripted.ts';

let place: ScriptedPlace;
afterEach(() => place.close());

const RECONCILE = `[servers.s.reconcile.act]
tool = "look"
args = { text = "\${args.text}", all = true }
done_if = "^found \${args.text}$"
not_done_if = "^nothing$"
`;

/** A change that ends without an answer, and what the read tool says about it afterwards. */
async function interrupted(shown: string, effects: Record<string, 'read' | 'change'> = {}) {
  const tools = [tool('act'), reader('look')];
  place = await openScripted({ tools, answers: { act: { exit: 1 } } }, RECONCILE);
  await place.trust('s', effects);
  const { outcome, callId } = await place.call('s__act', { text: 'a.b (c)' });
  expect(outcome.status).toBe('indeterminate');
  place.script({ tools, answers: { look: { result: { content: [{ type: 'text', text: shown }] } } } });
  await place.app.kernel.recover();
  const [call] = (await place.app.kernel.telemetry.calls({ tool: 's__act' })).filter(
    (one) => one.callId === callId,
  );
  return call?.status;
}

it.each([
  ['found a.b (c)', 'ok'],
  ['nothing', 'failed'],
  ['found axb (c)', 'indeterminate'],
  ['something else', 'indeterminate'],
])('settles an interrupted change from a read that says %j: %s', async (shown, status) => {
  expect(await interrupted(shown)).toBe(status);
  const calls = place.calls();
  // It is looked for once when the answer stays away, and again by recovery; the change itself is never sent again.
  expect(calls.map(({ name }) => name)).toEqual(['act', 'look', 'look']);
  expect(calls[2]?.arguments).toEqual({ text: 'a.b (c)', all: true });
  const [read] = await place.app.kernel.telemetry.calls({ tool: 's__look' });
  expect(read).toMatchObject({ principal: 'system:reconcile', status: 'ok' });
});

it('makes no call with a tool that a person confirmed as a change', async () => {
  expect(await interrupted('found a.b (c)', { look: 'change' })).toBe('indeterminate');
  expect(place.calls().map(({ name }) => name)).toEqual(['act']);
});
