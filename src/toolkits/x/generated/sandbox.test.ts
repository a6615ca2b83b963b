import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillIds, GENERATED_CALLS, NAMED_POSTS } from '../../../../test/support/x-generated-calls.ts';
import { startXWorld, toolContext, type XWorld } from '../../../../test/support/x-sandbox.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { generatedTools } from './tools.ts';

describe('every table-driven tool on the sandbox', () => {
  let world: XWorld;
  const known: Record<string, string> = {};

  beforeAll(async () => {
    world = await startXWorld();
    const { items } = await world.sandbox.control('look', { collection: 'posts' });
    const find = (start: string) =>
      String((items as JsonObject[]).find((post) => String(post.text).startsWith(start))?.id);
    for (const [name, start] of Object.entries(NAMED_POSTS)) known[name] = find(start);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  const fill = (args: JsonObject): JsonObject => fillIds(args, known);

  it('is called below, all 67 of them', () => {
    expect(GENERATED_CALLS.map(([name]) => name).sort()).toEqual(
      generatedTools.map(({ name }) => name).sort(),
    );
  });

  it.each(GENERATED_CALLS)(
    '%s succeeds and returns what its output schema says',
    async (name, args, expected) => {
      const tool = generatedTools.find((each) => each.name === name);
      if (!tool) throw new Error('missing');
      const input = tool.input.parse(fill(args));
      expect(input).toMatchObject({ ok: true });
      const context = toolContext(world);
      const data: JsonValue = await tool.run(fill(args), context);
      expect(data).toMatchObject(expected);
      expect(tool.output.parse(data)).toMatchObject({ ok: true });
      expect(context.notes).toMatchObject({ provider_backend: 'sandbox', sandbox: true });
    },
  );
});
