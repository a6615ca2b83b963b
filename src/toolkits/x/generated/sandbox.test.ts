import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GENERATED_CALLS, withIds } from '../../../../test/support/calls/x.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { namedPosts } from '../test/support/call-world.ts';
import { startXWorld, toolContext, type XWorld } from '../test/support/sandbox.ts';
import { generatedTools } from './tools.ts';

describe('every table-driven tool on the sandbox', () => {
  let world: XWorld;
  let known: Record<string, string>;

  beforeAll(async () => {
    world = await startXWorld();
    known = await namedPosts(world.sandbox);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  const fill = (args: JsonObject): JsonObject => withIds(args, known);

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
