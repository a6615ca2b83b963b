import { z } from 'zod';

/** An id as the document says, an integer; digits in quotes are understood as well. */
const whole = z.preprocess(
  (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
  z.int(),
);

export const id = (doc?: string) => (doc === undefined ? whole : whole.describe(doc));
