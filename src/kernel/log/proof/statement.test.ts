import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import type { Entry } from '../entry.ts';
import { runStatements, type StatedEntry } from './statement.ts';

const CHECKPOINT = { origin: 'log.example', size: 9, root: 'r', at: 'later' };
const stated = (entry: Partial<Entry>, seq = 0): StatedEntry => ({
  seq,
  hash: `hash-${seq}`,
  entry: { v: 1, kind: 'outcome', at: 'now', ...entry },
});
const state = (...entries: StatedEntry[]) =>
  runStatements('r1', CHECKPOINT, entries).map((text) => JSON.parse(text));
const stateTests = (tests: unknown, entry: Partial<Entry> = {}) =>
  state(stated({ ...entry, extra: { tests } as JsonObject })).slice(1);

describe('the statement of a run', () => {
  it('says who did what, in which log, with which artifacts, and no arguments', () => {
    const [one, two] = ['sha256:bb', 'sha256:aa'];
    const file = { id: two, name: 'a', mediaType: 'text/plain', size: 1 };
    const call = { call: 'c1', tool: 'post', principal: 'agent:local' };
    const [statement, ...more] = state(
      stated({ kind: 'intent', ...call, digest: 'd', args: 'sha256:secret', client: 'x' }, 3),
      stated({
        ...call,
        status: 'ok',
        artifacts: [one, file, one],
        approval: { uuid: 'u', digest: 'd', approver: 'person:ada' },
      }),
    );
    expect(more).toEqual([]);
    expect(statement).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [
        {
          name: 'run/r1',
          digest: { sha256: createHash('sha256').update('hash-3\nhash-0').digest('hex') },
        },
        { name: two, digest: { sha256: 'aa' } },
        { name: one, digest: { sha256: 'bb' } },
      ],
      predicateType: 'urn:countersign:attestation:run:v1',
      predicate: {
        run: 'r1',
        log: { origin: 'log.example', size: 9, root: 'r' },
        entries: [
          { seq: 3, hash: 'hash-3', kind: 'intent', at: 'now', ...call },
          {
            seq: 0,
            hash: 'hash-0',
            kind: 'outcome',
            at: 'now',
            ...call,
            status: 'ok',
            approver: 'person:ada',
          },
        ],
      },
    });
  });

  it('is one text for the same entries', () => {
    const entries = [stated({ call: 'c1' })];
    const [text] = runStatements('r1', CHECKPOINT, entries);
    expect(text).toMatch(/^\{"_type":.*"predicate":\{"entries":\[\{"at":/);
  });
});

describe('the statement of a test result', () => {
  it('is about the git tree and the tool that tested it', () => {
    const tests = { tree: 't1', result: 'passed', passed: ['a'], warned: ['b'], failed: ['c', 'd'] };
    const [statement] = stateTests(tests, { tool: 'dev_qa', digest: 'd1' });
    expect(statement).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'tree', digest: { gitTree: 't1' } }],
      predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
      predicate: {
        result: 'PASSED',
        configuration: [{ name: 'dev_qa', digest: { sha256: 'd1' } }],
        passedTests: ['a'],
        warnedTests: ['b'],
        failedTests: ['c', 'd'],
      },
    });
  });

  it('has the hash of the entry where there is no digest, and leaves out what is not known', () => {
    const [statement] = stateTests({ tree: 't1', result: 'warning', passed: 'a', failed: ['a', 1] });
    expect(statement.predicate).toEqual({
      result: 'WARNED',
      configuration: [{ digest: { sha256: 'hash-0' } }],
    });
  });

  it.each([
    ['passed', 'PASSED'],
    ['PASS', 'PASSED'],
    ['ok', 'PASSED'],
    [true, 'PASSED'],
    ['success', 'PASSED'],
    ['Warnings', 'WARNED'],
    ['failed', 'FAILED'],
    ['no warn', 'FAILED'],
    [false, 'FAILED'],
    [undefined, 'FAILED'],
  ])('reads the result %j as %s', (result, word) => {
    expect(stateTests({ tree: 't1', result })[0].predicate.result).toBe(word);
  });

  it.each([[undefined], [null], ['passed'], [{}], [{ tree: 1 }], [[{ tree: 't1' }]]])(
    'does not exist for %j',
    (tests) => {
      expect(stateTests(tests)).toEqual([]);
    },
  );
});
