import type { Kernel } from './kernel.ts';
import { BUCKETS, queueState } from './metrics.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number, suffix?: string];

/** The state of this server in the text format of Prometheus 0.0.4. */
export async function renderMetrics(
  kernel: Pick<Kernel, 'metrics' | 'evidence' | 'database' | 'isPaused'>,
  { now, startedAt, version }: { readonly now: Date; readonly startedAt: Date; readonly version: string },
): Promise<string> {
  const { metrics, database } = kernel;
  const queue = await queueState(database, now);
  const head = await database.db.selectFrom('audit_head').select('size').executeTakeFirst();
  const { writable, waiting, unwritten } = kernel.evidence();
  const lines = [
    family('build_info', 'gauge', 'Version of this server.', [[{ version }, 1]]),
    family('start_time_seconds', 'gauge', 'When this server started, in Unix time.', [
      [{}, startedAt.getTime() / 1000],
    ]),
    family('resident_memory_bytes', 'gauge', 'Memory of this server.', [[{}, process.memoryUsage.rss()]]),
    family(
      'calls_total',
      'counter',
      'Calls of this server by tool, effect, status and error code.',
      metrics.calls.map(({ count, ...labels }) => [{ ...labels }, count]),
    ),
    family(
      'decisions_total',
      'counter',
      'Decisions of the policy in this server; none: the call ended before.',
      [...metrics.decisions].map(([action, count]) => [{ action }, count]),
    ),
    family(
      'call_duration_seconds',
      'histogram',
      'How long calls of this server took.',
      metrics.durations.flatMap(({ effect, buckets, count, seconds }) => {
        let total = 0;
        const bounds = BUCKETS.map((bound, index): Sample => {
          total += buckets[index] ?? 0;
          return [{ effect, le: String(bound) }, total, '_bucket'];
        });
        return [
          ...bounds,
          [{ effect, le: '+Inf' }, count, '_bucket'],
          [{ effect }, seconds, '_sum'],
          [{ effect }, count, '_count'],
        ] as Sample[];
      }),
    ),
    family('approvals_pending', 'gauge', 'Pending approvals in the whole database.', [[{}, queue.pending]]),
    family('approvals_oldest_pending_seconds', 'gauge', 'Age of the oldest pending approval; 0 if none.', [
      [{}, queue.oldestSeconds],
    ]),
    family('audit_entries', 'gauge', 'Entries of the audit log.', [[{}, head?.size ?? 0]]),
    family('evidence_writable', 'gauge', '0 while this server cannot write evidence, else 1.', [
      [{}, Number(writable)],
    ]),
    family('evidence_waiting', 'gauge', 'Calls of this server whose evidence is not durable yet.', [
      [{}, waiting],
    ]),
    family('evidence_unwritten_total', 'counter', 'Calls whose evidence the database refused.', [
      [{}, unwritten],
    ]),
    family('paused', 'gauge', '1 while a person has paused all changes.', [
      [{}, Number(await kernel.isPaused())],
    ]),
  ];
  return `${lines.flat().join('\n')}\n`;
}

function family(
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  samples: readonly Sample[],
): string[] {
  const full = `countersign_${name}`;
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} ${type}`,
    ...samples.map(([labels, value, suffix = '']) => `${full}${suffix}${write(labels)} ${value}`),
  ];
}

function write(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
