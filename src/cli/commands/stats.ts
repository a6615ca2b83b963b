import type { GlobalOptions } from '../../contract/command.ts';
import { print, printJson, table } from '../../terminal/output.ts';
import { since } from '../../terminal/text.ts';
import { withApp } from '../context.ts';
import { mustBeToolkit } from '../usage-error.ts';

/** What agents did lately: calls, errors and latency per tool. */
export function stats(global: GlobalOptions, options: { since: string; toolkit?: string }): Promise<void> {
  return withApp(global, async ({ kernel, inventory, now }) => {
    mustBeToolkit(inventory, options.toolkit);
    const from = since(options.since, now());
    const metrics = await kernel.telemetry.metrics(from, options.toolkit);
    const errors = await kernel.telemetry.errors(from, options.toolkit);
    if (global.json) return printJson({ since: from.toISOString(), tools: metrics, errors });
    if (metrics.length === 0) return print(`No calls since ${from.toISOString()}.`);
    const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
    const busiest = [...metrics].sort((a, b) => b.totalCalls - a.totalCalls);
    print(
      table(
        ['TOOL', 'CALLS', 'FAILED', 'P50 MS', 'P95 MS', 'MAX MS'],
        busiest.map((one) => [
          one.tool,
          String(one.totalCalls),
          String(one.failureCount),
          ms(one.p50Ms),
          ms(one.p95Ms),
          ms(one.maxMs),
        ]),
      ),
    );
    if (errors.length > 0) {
      print('');
      print(
        table(
          ['ERROR', 'TOOL', 'COUNT', 'LAST'],
          errors.map((one) => [one.code, one.tool, String(one.count), one.lastAt.toISOString()]),
        ),
      );
    }
  });
}
