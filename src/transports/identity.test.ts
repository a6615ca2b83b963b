import { describe, expect, it } from 'vitest';
import { LOCAL_AGENT, type Principal } from '../contract/principal.ts';
import { requireStdioPrincipal, resolvePrincipal } from './identity.ts';

const ROBIN: Principal = { kind: 'agent', id: 'robin' };
const served = { authenticate: async (token: string) => (token === 'right' ? ROBIN : undefined) };

describe('who is calling', () => {
  it('is the agent of the token wherever one is shown', async () => {
    expect(await resolvePrincipal(served, { token: 'right' })).toEqual({ principal: ROBIN });
    expect(await resolvePrincipal(served, { token: 'right', needsToken: true })).toEqual({
      principal: ROBIN,
    });
  });

  it('is no one with a token that is unknown or empty, also on this machine', async () => {
    for (const token of ['wrong', ''])
      expect(await resolvePrincipal(served, { token })).toEqual({ refused: 'unknown' });
  });

  it('is the local agent without a token, unless the entry point needs one', async () => {
    expect(await resolvePrincipal(served, { token: undefined })).toEqual({ principal: LOCAL_AGENT });
    expect(await resolvePrincipal(served, { token: undefined, needsToken: true })).toEqual({
      refused: 'missing',
    });
  });
});

describe('a server that its client starts', () => {
  it('serves the agent of its token, or the local one without', async () => {
    expect(await requireStdioPrincipal(served, 'right')).toEqual(ROBIN);
    expect(await requireStdioPrincipal(served, undefined)).toEqual(LOCAL_AGENT);
  });

  it('ends with a token that is invalid, and says when it is only empty', async () => {
    await expect(requireStdioPrincipal(served, 'wrong')).rejects.toThrow('is invalid or revoked');
    await expect(requireStdioPrincipal(served, '')).rejects.toThrow('is set but empty');
  });
});
