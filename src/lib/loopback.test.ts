import { describe, expect, it } from 'vitest';
import { isLoopback } from './loopback.ts';

describe('an address that only this machine reaches', () => {
  it.each(['localhost', '::1', '[::1]', '127.0.0.1', '127.0.0.53', '127.255.255.254', '127.10.200.3'])(
    'is %s',
    (host) => expect(isLoopback(host)).toBe(true),
  );

  it.each([
    '',
    '0.0.0.0',
    '::',
    '128.0.0.1',
    '10.127.0.0.1',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '127.0.0',
    '127.0.0.1234',
    '127.0.0.x',
    '127.x.0.1',
    '127.0.x.1',
    '127.0.0.',
    '127..0.1',
  ])('is not %j', (host) => expect(isLoopback(host)).toBe(false));
});
