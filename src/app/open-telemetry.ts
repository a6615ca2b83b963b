import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { Config } from '../config/config.ts';
import type { Log } from '../contract/ports.ts';
import type { TracedCall, Tracing } from '../kernel/call/tracing.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { queueState } from '../kernel/metrics.ts';
import { VERSION } from '../lib/log.ts';

/** The versions Countersign is tested with; the next major ones need a newer Node than Countersign does. */
const INSTALL_OTEL =
  'npm install @opentelemetry/api@1.9.0 @opentelemetry/sdk-trace@2.12.0 @opentelemetry/sdk-metrics@2.12.0 @opentelemetry/resources@2.12.0 @opentelemetry/exporter-trace-otlp-http@0.223.0 @opentelemetry/exporter-metrics-otlp-http@0.223.0';

/** A collector that does not answer must not hold up the end of a command. */
const CLOSE_MS = 3_000;

export interface OpenTelemetry {
  readonly tracing: Tracing;
  /** Exports the metrics of a kernel from now on. */
  measure(kernel: Kernel, now: () => Date): void;
  close(): Promise<void>;
}

type Settings = Config['telemetry'];

interface StartOptions {
  /** A server without the telemetry that it was told to send is refused; a pause must never wait for packages. */
  readonly isServing: boolean;
  readonly load?: () => ReturnType<typeof loadSdk>;
}

/** Loads the official SDK, and only where an operator asks for it: it is an optional peer. */
export async function startOpenTelemetry(
  config: Pick<Config, 'telemetry' | 'errorFor'>,
  log: Log,
  { isServing, load = loadSdk }: StartOptions,
): Promise<OpenTelemetry | undefined> {
  const { telemetry } = config;
  if (telemetry.otlp_endpoint === undefined) return undefined;
  try {
    return connect(await load(), telemetry, telemetry.otlp_endpoint, log);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message = `needs the OpenTelemetry SDK, which is not installed. Run \`${INSTALL_OTEL}\` where Countersign is installed (with --global if it is installed globally), or remove the setting`;
    const missing = config.errorFor([{ path: ['telemetry', 'otlp_endpoint'], message }]);
    if (isServing) throw missing;
    log.warn('This command runs without telemetry', { error: missing });
    return undefined;
  }
}

const loadSdk = async () => ({
  api: await import('@opentelemetry/api'),
  traces: await import('@opentelemetry/sdk-trace'),
  metrics: await import('@opentelemetry/sdk-metrics'),
  resources: await import('@opentelemetry/resources'),
  spanExport: await import('@opentelemetry/exporter-trace-otlp-http'),
  metricExport: await import('@opentelemetry/exporter-metrics-otlp-http'),
});
type Sdk = Awaited<ReturnType<typeof loadSdk>>;

function connect(sdk: Sdk, settings: Settings, endpoint: string, log: Log): OpenTelemetry {
  const { api, traces, metrics, resources, spanExport, metricExport } = sdk;
  const base = endpoint.replace(/\/$/, '');
  const resource = resources.resourceFromAttributes({
    'service.name': settings.service_name,
    'service.version': VERSION,
  });
  const target = (path: string) => ({
    url: `${base}/v1/${path}`,
    headers: settings.headers,
    timeoutMillis: CLOSE_MS,
  });
  const tracers = new traces.TracerProvider({
    resource,
    spanProcessors: [
      new traces.BatchSpanProcessor({ exporter: new spanExport.OTLPTraceExporter(target('traces')) }),
    ],
  });
  const meters = new metrics.MeterProvider({
    resource,
    readers: [
      new metrics.PeriodicExportingMetricReader({
        exporter: new metricExport.OTLPMetricExporter(target('metrics')),
        exportIntervalMillis: settings.interval_seconds * 1000,
        exportTimeoutMillis: Math.min(CLOSE_MS, settings.interval_seconds * 1000),
      }),
    ],
  });
  const tracer = tracers.getTracer('countersign', VERSION);
  let used = false;
  return {
    tracing: {
      begin(call) {
        used = true;
        return traceOf(api, tracer, call);
      },
    },
    measure: (kernel, now) => addInstruments(meters.getMeter('countersign', VERSION), kernel, now),
    async close() {
      // A command that made no call has nothing to tell a collector.
      if (!used) return;
      const ended = Promise.allSettled([tracers.shutdown(), meters.shutdown()]);
      const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), CLOSE_MS).unref());
      if ((await Promise.race([ended, late])) === 'late')
        log.warn('Telemetry was not delivered in time', { endpoint: base });
    },
  };
}

function traceOf(api: Sdk['api'], tracer: ReturnType<Sdk['api']['trace']['getTracer']>, call: TracedCall) {
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api;
  const name = `tools/call ${call.tool}`;
  const whole = tracer.startSpan(
    name,
    {
      kind: SpanKind.SERVER,
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': call.tool,
        'countersign.call_id': call.callId,
        'countersign.toolkit': call.toolkit,
        'countersign.effect': call.effect,
        'countersign.principal': call.principal,
        'countersign.transport': call.transport,
      },
    },
    parentContext(api, call.traceparent),
  );
  const open: Span[] = [whole];
  const current = (): Span => open.at(-1) ?? whole;
  return {
    get traceparent() {
      const { traceId, spanId, traceFlags } = current().spanContext();
      return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
    },
    async step<T>(step: string, work: () => Promise<T>): Promise<T> {
      const span = tracer.startSpan(`countersign.${step}`, {}, trace.setSpan(ROOT_CONTEXT, current()));
      open.push(span);
      try {
        return await work();
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        open.splice(open.indexOf(span), 1);
        span.end();
      }
    },
    end(facts: Readonly<Record<string, string>>) {
      for (const [key, value] of Object.entries(facts)) whole.setAttribute(`countersign.${key}`, value);
      const { code, status } = facts;
      if (code !== undefined) whole.setAttribute('error.type', code);
      if (status === 'failed' || status === 'indeterminate')
        whole.setStatus({ code: SpanStatusCode.ERROR, message: code });
      whole.end();
    },
  };
}

function parentContext({ ROOT_CONTEXT, trace }: Sdk['api'], traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = traceparent?.split('-') ?? [];
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** The numbers of `GET /metrics`, pushed. */
function addInstruments(
  meter: ReturnType<Sdk['api']['metrics']['getMeter']>,
  kernel: Kernel,
  now: () => Date,
): void {
  const observe = (
    kind: 'createObservableCounter' | 'createObservableGauge',
    name: string,
    unit: string,
    read: () => Iterable<readonly [number, Attributes?]> | Promise<Iterable<readonly [number, Attributes?]>>,
  ): void =>
    meter[kind](`countersign.${name}`, { unit }).addCallback(async (result) => {
      for (const [value, attributes] of await read()) result.observe(value, attributes);
    });
  observe('createObservableCounter', 'calls', '{call}', () =>
    kernel.metrics.calls.map(({ count, ...attributes }) => [count, { ...attributes }] as const),
  );
  observe('createObservableCounter', 'decisions', '{decision}', () =>
    [...kernel.metrics.decisions].map(([action, count]) => [count, { action }] as const),
  );
  observe('createObservableCounter', 'call.seconds', 's', () =>
    kernel.metrics.durations.map(({ effect, seconds }) => [seconds, { effect }] as const),
  );
  const queue = () => queueState(kernel.database, now());
  observe('createObservableGauge', 'approvals.pending', '{approval}', async () => [
    [(await queue()).pending],
  ]);
  observe('createObservableGauge', 'approvals.oldest_pending', 's', async () => [
    [(await queue()).oldestSeconds],
  ]);
  observe('createObservableGauge', 'evidence.waiting', '{call}', () => [[kernel.evidence().waiting]]);
}
