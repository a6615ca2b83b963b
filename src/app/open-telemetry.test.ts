import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../contract/json.ts';
import { READ_PROFILES, toolFactory } from '../contract/tool.ts';
import { defineToolkit, type Toolkit } from '../contract/toolkit.ts';
import { type App, openApp } from './app.ts';
import { startOpenTelemetry } from './open-telemetry.ts';

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: { key: string; value: { stringValue?: string } }[];
}
interface OtlpMetric {
  readonly name: string;
  readonly sum?: { dataPoints: OtlpPoint[] };
  readonly gauge?: { dataPoints: OtlpPoint[] };
}
interface OtlpBody {
  readonly resourceSpans?: { scopeSpans: { spans: OtlpSpan[] }[] }[];
  readonly resourceMetrics?: { scopeMetrics: { metrics: OtlpMetric[] }[] }[];
}
interface OtlpPoint {
  readonly asDouble?: number;
  readonly asInt?: number | string;
}

const define = toolFactory<Record<string, never>>();
const base = { reach: 'local', category: 'trace', errors: [], profiles: READ_PROFILES } as const;
const inner = define({
  ...base,
  name: 'trace_inner',
  title: 'Inner',
  summary: 'Shows the trace context that a server further on would get.',
  effect: 'read',
  input: z.object({}),
  output: z.looseObject({}),
  run: async (_args, { meta }) => ({ meta: meta ?? {} }),
});
const outer = define({
  ...base,
  name: 'trace_outer',
  title: 'Outer',
  summary: 'Makes a call of its own.',
  effect: 'read',
  input: z.object({}),
  output: z.looseObject({}),
  async run(_args, context) {
    const { status } = await context.call('trace_inner', {});
    return { status };
  },
});
const toolkit = defineToolkit<Record<string, never>>({
  id: 'trace',
  title: 'Trace',
  tools: [inner, outer],
  connect: async () => ({}),
}) as unknown as Toolkit;

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${TRACE}-b7ad6b7169203331-01`;

describe('OpenTelemetry', () => {
  let collector: Server;
  let home: string;
  let heard: { path: string; key: string | undefined; body: OtlpBody }[];

  beforeEach(async () => {
    heard = [];
    collector = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      request.on('end', () => {
        const key = request.headers['x-api-key'] as string | undefined;
        heard.push({ path: request.url ?? '', key, body: JSON.parse(text) as OtlpBody });
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    home = mkdtempSync(join(tmpdir(), 'countersign-otel-'));
  });
  afterEach(() => {
    collector.closeAllConnections();
    collector.close();
    rmSync(home, { recursive: true, force: true });
  });

  const open = (config: string): Promise<App> => {
    writeFileSync(join(home, 'config.toml'), `toolkits = ["trace"]\n${config}`);
    const env = { COUNTERSIGN_HOME: home, HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' };
    return openApp({ env, extraToolkits: [{ id: 'trace', load: async () => toolkit }] });
  };
  const call = async (app: App, tool: string, meta?: JsonObject) => {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    const principal = { kind: 'agent', id: 'local' } as const;
    const { outcome } = await app.kernel.invoke({ bound, args: {}, principal, transport: 'test', meta });
    return outcome.status === 'ok' ? (outcome.data as JsonObject) : {};
  };
  const spans = (): OtlpSpan[] =>
    heard
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ body }) => body.resourceSpans ?? [])
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const metrics = (): OtlpMetric[] =>
    heard
      .filter(({ path }) => path === '/v1/metrics')
      .flatMap(({ body }) => body.resourceMetrics ?? [])
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  const configured = (): string =>
    `[telemetry]\notlp_endpoint = "http://127.0.0.1:${(collector.address() as AddressInfo).port}"\nheaders = { x-api-key = "k" }\n`;

  it('sends a span for each step, below the span that the client is in', async () => {
    const app = await open(configured());
    const passed = await call(app, 'trace_inner', { traceparent, other: 'kept' });
    await app.close();
    const all = spans();
    const names = all.map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      [
        'tools/call trace_inner',
        ...[
          'record',
          'contain',
          'validate',
          'caller',
          'replay',
          'check',
          'prepare',
          'decide',
          'admit',
          'run',
        ].map((step) => `countersign.${step}`),
      ].toSorted(),
    );
    expect(new Set(all.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    const byName = new Map(all.map((span) => [span.name, span]));
    const whole = byName.get('tools/call trace_inner');
    const run = byName.get('countersign.run');
    expect(whole?.parentSpanId).toBe('b7ad6b7169203331');
    expect(byName.get('countersign.record')?.parentSpanId).toBe(whole?.spanId);
    expect(run?.parentSpanId).toBe(byName.get('countersign.admit')?.spanId);
    // What is called from here on belongs to the step that calls it.
    expect(passed).toEqual({ meta: { traceparent: `00-${TRACE}-${run?.spanId}-01`, other: 'kept' } });
    expect(whole?.attributes).toContainEqual({ key: 'countersign.status', value: { stringValue: 'ok' } });
    expect(heard.every(({ key }) => key === 'k')).toBe(true);
    expect(JSON.stringify(heard)).not.toContain('kept');
  });

  it('joins a call that is part of another, and begins a trace where none is given', async () => {
    const app = await open(configured());
    await call(app, 'trace_outer', { traceparent: 'not one' });
    await app.close();
    const all = spans();
    const outerSpan = all.find(({ name }) => name === 'tools/call trace_outer');
    const innerSpan = all.find(({ name }) => name === 'tools/call trace_inner');
    expect(outerSpan?.parentSpanId ?? '').toBe('');
    expect(innerSpan?.traceId).toBe(outerSpan?.traceId);
    const parents = all.filter(({ spanId }) => spanId === innerSpan?.parentSpanId);
    expect(parents.map(({ name }) => name)).toEqual(['countersign.run']);
  });

  it('sends metrics of calls, decisions and the queue', async () => {
    const app = await open(configured());
    await call(app, 'trace_inner');
    await call(app, 'trace_inner');
    await app.close();
    const found = Object.fromEntries(
      metrics().map(({ name, sum, gauge }) => {
        const [point] = (sum ?? gauge)?.dataPoints ?? [];
        return [name, Number(point?.asDouble ?? point?.asInt)];
      }),
    );
    expect(found).toMatchObject({
      'countersign.calls': 2,
      'countersign.decisions': 2,
      'countersign.approvals.pending': 0,
      'countersign.approvals.oldest_pending': 0,
    });
  });

  it('is not loaded unless it is configured, and passes the client’s context on all the same', async () => {
    const app = await open('');
    const load = (): never => {
      throw new Error('loaded');
    };
    expect(await startOpenTelemetry(app.config, app.log, { isServing: true, load })).toBeUndefined();
    expect(await call(app, 'trace_inner', { traceparent })).toEqual({ meta: { traceparent } });
    await app.close();
    expect(heard).toEqual([]);
  });

  it('names the packages to install when they are missing, and the setting with its line', async () => {
    const app = await open(configured());
    const load = () =>
      Promise.reject(Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' }));
    await expect(startOpenTelemetry(app.config, app.log, { isServing: true, load })).rejects.toThrow(
      /config\.toml.*:3.*telemetry\.otlp_endpoint.*npm install @opentelemetry\/api@/s,
    );
    // A pause must not wait for packages.
    const warn = vi.fn();
    const log = { ...app.log, warn };
    expect(await startOpenTelemetry(app.config, log, { isServing: false, load })).toBeUndefined();
    expect(warn).toHaveBeenCalledOnce();
    await app.close();
  });

  it('does not hold up the end of a process when the collector is away', async () => {
    const app = await open('[telemetry]\notlp_endpoint = "http://127.0.0.1:1"\n');
    expect(await call(app, 'trace_inner')).toEqual({ meta: expect.anything() });
    await app.close();
  });
});
