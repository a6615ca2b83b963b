import { expect, it } from 'vitest';
import { z } from 'zod';
import { zodSchema } from './schema.ts';

it('says of what was left out that it is missing, and of the rest what is wrong', () => {
  const schema = zodSchema(
    z.strictObject({
      text: z.string(),
      id: z.union([z.string(), z.int()]),
      own: z.string('write it down'),
      files: z.array(z.object({ path: z.string() })),
      count: z.int(),
    }),
  );
  expect(schema.parse({ files: [{}], count: 'x', more: 1 })).toEqual({
    ok: false,
    issues: [
      { path: 'text', message: 'is missing' },
      { path: 'id', message: 'is missing' },
      { path: 'own', message: 'write it down' },
      { path: 'files[0].path', message: 'is missing' },
      { path: 'count', message: 'Invalid input: expected number, received string' },
      { path: 'more', message: 'is not a known argument' },
    ],
  });
});
