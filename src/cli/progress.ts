const WIDTH = 24;
const PAUSE_MS = 100;

interface Progress {
  show(message: string, done: number, total: number | undefined): void;
  end(): void;
}

/**
 * A bar on stderr while something takes long: stdout stays clean for what was asked. Where nobody watches (a pipe, a
 * log file) each new step is one line instead.
 */
export function startProgress(
  out: NodeJS.WriteStream = process.stderr,
  now: () => number = Date.now,
): Progress {
  let drawn = false;
  let last = Number.NEGATIVE_INFINITY;
  let step = '';
  return {
    show(message, done, total) {
      const complete = total !== undefined && done >= total;
      if (!out.isTTY) {
        if (message !== step) out.write(`${message}\n`);
        step = message;
        return;
      }
      if (now() - last < PAUSE_MS && !complete) return;
      last = now();
      drawn = true;
      out.write(`\r\u001b[K${total ? `${bar(done / total)} ${done}/${total} ` : ''}${message.slice(0, 60)}`);
    },
    end() {
      if (drawn) out.write('\r\u001b[K');
      drawn = false;
    },
  };
}

const bar = (share: number): string => {
  const full = Math.round(Math.min(1, Math.max(0, share)) * WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`;
};
