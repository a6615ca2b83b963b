import { z } from 'zod';
import type { UsageRow } from '../client/api.ts';

const sums = z.object({ calls: z.number(), failures: z.number(), items: z.number(), cost_usd: z.number() });

export const usageShape = sums.extend({
  days: z.number(),
  endpoints: z.array(sums.extend({ endpoint: z.string(), method: z.string() })),
  daily: z.array(sums.extend({ day: z.string() })),
});

type Sums = z.input<typeof sums>;

export function usageOf(rows: readonly UsageRow[], days: number): z.input<typeof usageShape> {
  const endpoints = groupBy(rows, (row) => `${row.method} ${row.endpoint}`).map(([, group]) => ({
    endpoint: group[0]?.endpoint ?? '',
    method: group[0]?.method ?? '',
    ...sumOf(group),
  }));
  const daily = groupBy(rows, (row) => row.day).map(([day, group]) => ({ day, ...sumOf(group) }));
  return {
    days,
    ...sumOf(rows),
    endpoints: endpoints.sort((a, b) => b.cost_usd - a.cost_usd || b.calls - a.calls),
    daily: daily.sort((a, b) => (a.day < b.day ? -1 : 1)),
  };
}

function sumOf(rows: readonly UsageRow[]): Sums {
  const total = { calls: 0, failures: 0, items: 0, cost_usd: 0 };
  for (const row of rows) {
    total.calls += row.calls;
    total.failures += row.failures;
    total.items += row.items;
    total.cost_usd += row.costUsd;
  }
  // Sums of cents in binary leave dust behind.
  return { ...total, cost_usd: Math.round(total.cost_usd * 1e6) / 1e6 };
}

function groupBy(rows: readonly UsageRow[], keyOf: (row: UsageRow) => string): [string, UsageRow[]][] {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups];
}
