import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../contract/errors.ts';
import { leafHash } from '../../../lib/merkle.ts';
import { prepareEntry } from '../entry.ts';
import { requireEntry, requireIntact } from './intact.ts';

const { body, hash } = prepareEntry({ kind: 'config', at: '2026-03-01T12:00:00.000Z' });

/** What is thrown. */
function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('entries to be proven', () => {
  it('are read when each matches its hash', () => {
    expect(thrownBy(() => requireIntact([{ seq: 0, body, hash }]))).toBeUndefined();
    expect(requireEntry({ seq: 0, body })).toMatchObject({ kind: 'config' });
  });

  it.each([
    ['does not match its hash', { body: body.replace('config', 'refusal'), hash }],
    ['does not match its hash', { body, hash: '0'.repeat(64) }],
    ['cannot be read', { body: '{}', hash: leafHash('{}') }],
    ['cannot be read', { body: '{', hash: leafHash('{') }],
  ])('are refused, and not to be tried again, when one %s', (why, changed) => {
    const rows = [
      { seq: 0, body, hash },
      { seq: 1, ...changed },
    ];
    const error = thrownBy(() => requireIntact(rows));
    expect(error).toBeInstanceOf(ToolError);
    expect(error).toMatchObject({
      code: 'db_error',
      message: expect.stringContaining(`Entry 1 of the audit log ${why}`),
      retryable: false,
      hint: expect.stringContaining('Restore a backup'),
    });
  });
});
