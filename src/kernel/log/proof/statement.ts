import { hash } from 'node:crypto';
import type { JsonValue } from '../../../contract/json.ts';
import { canonicalJson } from '../../../lib/canonical.ts';
import { isObject } from '../../../lib/is-object.ts';
import { artifactId, type Entry } from '../entry.ts';
import type { Checkpoint } from '../signing/checkpoint.ts';

export const STATEMENT_TYPE = 'application/vnd.in-toto+json';
const IN_TOTO = 'https://in-toto.io/Statement/v1';
const TEST_RESULT = 'https://in-toto.io/attestation/test-result/v0.1';
const RUN = 'urn:countersign:attestation:run:v1';

export interface StatedEntry {
  readonly seq: number;
  readonly hash: string;
  readonly entry: Entry;
}

/**
 * What is stated about a run, made from its proven entries alone: anyone who has them makes the same text, which is how a
 * bundle is checked.
 */
export function runStatements(
  run: string,
  checkpoint: Checkpoint,
  entries: readonly StatedEntry[],
): string[] {
  return [runStatement(run, checkpoint, entries), ...entries.flatMap(testStatement)].map(canonicalJson);
}

/** Fields without a value are left out of the text. */
function runStatement(run: string, checkpoint: Checkpoint, entries: readonly StatedEntry[]): object {
  const hashes = entries.map((one) => one.hash);
  const artifacts = new Set(entries.flatMap(({ entry }) => (entry.artifacts ?? []).map(artifactId)));
  return {
    _type: IN_TOTO,
    subject: [
      { name: `run/${run}`, digest: { sha256: hash('sha256', hashes.join('\n')) } },
      ...[...artifacts].sort().map((id) => ({ name: id, digest: { sha256: id.replace('sha256:', '') } })),
    ],
    predicateType: RUN,
    predicate: {
      run,
      log: { origin: checkpoint.origin, size: checkpoint.size, root: checkpoint.root },
      entries: entries.map(({ seq, hash, entry }) => ({ seq, hash, ...summarize(entry) })),
    },
  };
}

/** Who did what with which result; never arguments. */
const summarize = ({ kind, at, call, tool, status, principal, approval }: Entry): object => ({
  kind,
  at,
  call,
  tool,
  status,
  principal,
  approver: approval?.approver,
});

/** A QA report speaks about one git tree, wherever that tree ends up. */
function testStatement({ entry, hash }: StatedEntry): object[] {
  const tests = entry.extra?.tests;
  if (!isObject(tests) || typeof tests.tree !== 'string') return [];
  return [
    {
      _type: IN_TOTO,
      subject: [{ name: 'tree', digest: { gitTree: tests.tree } }],
      predicateType: TEST_RESULT,
      predicate: {
        result: resultWord(tests.result),
        configuration: [{ name: entry.tool, digest: { sha256: entry.digest ?? hash } }],
        passedTests: names(tests.passed),
        warnedTests: names(tests.warned),
        failedTests: names(tests.failed),
      },
    },
  ];
}

function resultWord(result: JsonValue | undefined): 'PASSED' | 'WARNED' | 'FAILED' {
  const word = String(result).toLowerCase();
  if (['passed', 'pass', 'ok', 'true', 'success'].includes(word)) return 'PASSED';
  return word.startsWith('warn') ? 'WARNED' : 'FAILED';
}

const names = (value: JsonValue | undefined): JsonValue | undefined =>
  Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
