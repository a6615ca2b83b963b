export interface InsightsData {
  readonly from: string;
  readonly bucket: 'hour' | 'day';
  readonly series: readonly {
    readonly at: string;
    readonly calls: number;
    readonly errors: number;
    readonly latency_ms: number;
  }[];
  readonly approvals: readonly { readonly at: string; readonly state: string; readonly count: number }[];
  readonly tools: readonly {
    readonly tool: string;
    readonly totalCalls: number;
    readonly failureCount: number;
    readonly p50Ms: number;
    readonly p95Ms: number;
    readonly maxMs: number;
  }[];
  readonly errors: readonly {
    readonly tool: string;
    readonly code: string;
    readonly count: number;
    readonly lastAt: string;
  }[];
}
