// Loaded into a server with `node --import`: how long its main thread is busy without a break. Between two ticks the CPU time of the
// thread counts, not the time of day, which on a busy machine is mostly that of others. SIGUSR2 appends the figures since the last one
// to the file in BENCH_PROBE.
import { appendFileSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const file = process.env.BENCH_PROBE;
const TICK_MS = 2;

/** Nanoseconds on a CPU; /proc/self is the main thread. */
const onCpu = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]);

if (isMainThread && file) {
  const delays = monitorEventLoopDelay({ resolution: TICK_MS });
  let busy = [];
  let last = onCpu();
  delays.enable();
  setInterval(() => {
    const now = onCpu();
    busy.push((now - last) / 1e6);
    last = now;
  }, TICK_MS).unref();
  process.on('SIGUSR2', () => {
    const sorted = busy.sort((a, b) => a - b);
    const figures = {
      ticks: sorted.length,
      busyP99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
      busyMost: sorted.at(-1) ?? 0,
      delayP99: delays.percentile(99) / 1e6,
      delayMost: delays.max / 1e6,
      cpu: process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000,
    };
    appendFileSync(file, `${JSON.stringify(figures)}\n`);
    busy = [];
    last = onCpu();
    delays.reset();
  });
}
