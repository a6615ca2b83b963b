import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../routes/table.ts';
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
