import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../routes/table.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { openWebWorld, type WebWorld } from './api.fixture.ts';

describe('the table of routes', () => {
  let world: WebWorld;
  let headers: Readonly<Record<string, string>>;
  beforeAll(async () => {
    world = await openWebWorld();
    const { body } = await world.get('/session');
    headers = { cookie: world.cookie, 'x-csrf-token': (body as { csrf: string }).csrf };
  });
  afterAll(() => world.close());

  it('refuses a handler that gives anything else, which the compiler checks', () => {
    const api = new Hono<WebEnv>();
    // @ts-expect-error: the field is `total`.
    answer(api, 'GET /inbox/count', () => ({ totl: 1 }));
    // @ts-expect-error: the table has no such route.
    expect(() => answer(api, 'GET /inbox/counts', () => ({ total: 1 }))).toThrow();
    expect(api.routes).toHaveLength(1);
  });

  const names = Object.keys(routes);
  it.each(names.sort((a, b) => Number(a.includes('sign-out')) - Number(b.includes('sign-out'))))(
    'has a handler for %s',
    async (name) => {
      const [method = '', path = ''] = name.split(' ');
      const response = await world.raw(path.replace(/:\w+/g, '1'), { method, headers });
      // Whatever it refuses, it refuses in JSON; a path without a handler is answered with text.
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.status).not.toBe(500);
    },
  );
});
