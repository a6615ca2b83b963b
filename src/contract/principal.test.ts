import { describe, expect, it } from 'vitest';
import { parsePrincipal, principalName, throughDialog } from './principal.ts';

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

describe('a decision in a dialog', () => {
  it.each([
    ['claude-code/2.1.326', 'person:ada (dialog of claude-code/2.1.326)'],
    [undefined, 'person:ada (dialog of an unnamed client)'],
    ['()\u202e\n', 'person:ada (dialog of an unnamed client)'],
    ['x) signed by person:eve (\nhi', 'person:ada (dialog of x signed by person eve hi)'],
    ['n'.repeat(500), `person:ada (dialog of ${'n'.repeat(80)})`],
  ])('is named by the client %j as one, and not by the person alone', (client, name) => {
    const person = throughDialog({ kind: 'person', id: 'ada' }, client);
    expect(principalName(person)).toBe(name);
    expect(parsePrincipal(name)).toEqual(person);
  });
});
