import { describe, expect, it } from 'vitest';
import { parsePrincipal, principalName } from './principal.ts';

describe('parsePrincipal', () => {
  it.each(['agent:local', 'person:ada', 'system:scheduler', 'person:DOMAIN\\Ada L', 'agent:a:b'])(
    'reads %s back as it is written',
    (text) => {
      const principal = parsePrincipal(text);
      expect(principal && principalName(principal)).toBe(text);
    },
  );

  it.each(['', 'ada', ':ada', 'agent:', 'robot:r2', 'Agent:local', ' agent:local', 'agent:lo\ncal'])(
    'does not read %j',
    (text) => {
      expect(parsePrincipal(text)).toBeUndefined();
    },
  );
});
