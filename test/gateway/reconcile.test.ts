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

it.each<[string, string, string, string]>([
  [`^\${args.text}$`, 'x+'.repeat(100_000), 'x+'.repeat(100_000), 'ok'],
  [`\${args.text}`, '(', 'a ( b', 'ok'],
  [`^saved \${args.text}`, 'a', 'saved a, then', 'ok'],
  ['saved$', 'a', 'not saved yet', 'indeterminate'],
  ['^(a+\\s?)+$', 'a', `${'a'.repeat(200_000)}!`, 'indeterminate'],
  ['^(a+\\s?)+!$', 'a', `${'a'.repeat(200_000)}!`, 'ok'],
  [`x\${args.text}?`, 'a'.repeat(5_000), `x${'a'.repeat(5_000)}`, 'indeterminate'],
  [`\${args.toString}`, 'a', 'function toString', 'ok'],
  [`^a\${args.toString}$`, 'a', 'a', 'ok'],
])('compares text as text and searches in linear time: %j', async (pattern, text, shown, status) => {
  const tools = [tool('act'), reader('look')];
  const settings = `[servers.s.reconcile.act]\ntool = "look"\ndone_if = '${pattern}'\n`;
  place = await openScripted({ tools, answers: { act: { exit: 1 } } }, settings);
  await place.trust('s');
  await place.call('s__act', { text });
  place.script({ tools, answers: { look: { result: { content: [{ type: 'text', text: shown }] } } } });
  await place.app.kernel.recover();
  const [call] = await place.app.kernel.telemetry.calls({ tool: 's__act' });
  expect(call?.status).toBe(status);
});

it('makes no call with a tool that a person confirmed as a change', async () => {
  expect(await interrupted('found a.b (c)', { look: 'change' })).toBe('indeterminate');
  expect(place.calls().map(({ name }) => name)).toEqual(['act']);
});
