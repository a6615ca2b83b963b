import type { Client } from '@modelcontextprotocol/client';

/** One step an agent takes, and what the documents promise for it. */
export interface Step {
  readonly tool: string;
  readonly args?: Record<string, unknown>;
  /** Undefined: it must succeed. */
  readonly code?: string;
  /** What the data must contain. */
  readonly data?: Record<string, unknown>;
  before?(): Promise<void>;
}

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

export interface Gates {
  /** Share of replies that are a v1.0 envelope and fit the listed output schema. */
  readonly schemaValidity: number;
  /** Share of errors with a code outside the documented ones. */
  readonly unknownErrors: number;
  /** Share of steps that went as the documents say. */
  readonly conformance: number;
  /** Share of expected errors that came with exactly the expected code. */
  readonly errorCodeAccuracy: number;
  /** What went otherwise, for the person who reads the failure. */
  readonly notes: readonly string[];
}

interface Reply {
  readonly success: boolean;
  readonly data: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly retryable: boolean };
  readonly meta?: { readonly tool_version: string; readonly elapsed_ms: number };
}

/** Runs a scenario through a real client and measures the four gates. */
export async function evaluate(
  client: Client,
  { steps }: Scenario,
  documented: ReadonlySet<string>,
): Promise<Gates> {
  const count = { valid: 0, errors: 0, unknown: 0, conforming: 0, expected: 0, accurate: 0 };
  const notes: string[] = [];
  for (const step of steps) {
    await step.before?.();
    let reply: Reply;
    try {
      // The client itself checks the reply against the listed output schema.
      const { structuredContent } = await client.callTool({ name: step.tool, arguments: step.args ?? {} });
      reply = structuredContent as unknown as Reply;
    } catch (error) {
      notes.push(`${step.tool}: ${error instanceof Error ? error.message : error}`);
      continue;
    }
    if (isEnvelope(reply)) count.valid += 1;
    else notes.push(`${step.tool}: not a v1.0 envelope`);
    if (reply.error) {
      count.errors += 1;
      if (!documented.has(reply.error.code)) count.unknown += 1;
    }
    if (step.code !== undefined) {
      count.expected += 1;
      if (reply.error?.code === step.code) count.accurate += 1;
    }
    const asPromised =
      step.code === undefined
        ? reply.success && contains(reply.data, step.data)
        : reply.error?.code === step.code;
    if (asPromised) count.conforming += 1;
    else
      notes.push(
        `${step.tool}: expected ${step.code ?? 'success'}, got ${JSON.stringify(reply).slice(0, 200)}`,
      );
  }
  const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
  return {
    schemaValidity: share(count.valid, steps.length),
    unknownErrors: count.errors === 0 ? 0 : count.unknown / count.errors,
    conformance: share(count.conforming, steps.length),
    errorCodeAccuracy: share(count.accurate, count.expected),
    notes,
  };
}

function isEnvelope(reply: Reply): boolean {
  const meta = reply.meta?.tool_version === '1.0' && typeof reply.meta.elapsed_ms === 'number';
  const error = reply.success
    ? reply.error === undefined
    : typeof reply.error?.code === 'string' && typeof reply.error.retryable === 'boolean';
  return typeof reply.success === 'boolean' && 'data' in reply && meta && error;
}

function contains(data: unknown, wanted: Record<string, unknown> | undefined): boolean {
  if (!wanted) return true;
  if (typeof data !== 'object' || data === null) return false;
  return Object.entries(wanted).every(
    ([key, value]) => JSON.stringify((data as Record<string, unknown>)[key]) === JSON.stringify(value),
  );
}
