import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineView, serve } from './view.ts';

const specs = {
  since: defineView({
    params: z.object({ days: z.coerce.number<number>().int().min(1).default(7) }),
    output: z.object({ at: z.string(), days: z.number(), note: z.string().optional() }),
  }),
};
const views = serve<{ readonly at: Date }, typeof specs>(specs, {
  since: async ({ days }, { services }) => ({ at: services.at, days, note: undefined }),
});
const context = {
  services: { at: new Date('2026-03-04T05:06:07Z') },
  person: { kind: 'person', id: 'ada' },
} as const;

describe('serve', () => {
  it('applies defaults and returns what its schema describes, as plain JSON', async () => {
    const shown = await views.since({}, context);
    expect(shown).toStrictEqual({ at: '2026-03-04T05:06:07.000Z', days: 7 });
    expect(specs.since.output.parse(shown)).toEqual(shown);
  });

  it('names each invalid or unknown parameter', async () => {
    await expect(views.since({ days: 0, dayz: 3 }, context)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/days: .*dayz/s),
    });
  });
});
