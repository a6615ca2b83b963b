import { openWorld } from '../../../src/toolkits/dev/test/support/dev.ts';

declare const gc: (() => void) | undefined;

/** Calls tools against a GitHub that does not answer, while the garbage collector runs all the time. */
const [, , folder = '', config = '{}', pr = '1'] = process.argv;
const world = await openWorld({ cwd: '/', folder, config: JSON.parse(config) });
const run_id = await world.run('acme/app');
process.stdout.write('ready\n');
const pressure = setInterval(() => {
  if (!gc) throw new Error('This needs --expose-gc.');
  gc();
}, 5);
const ended = await Promise.all(
  [
    world.call('github_pr_get', { run_id, pr_number: Number(pr) }),
    world.call('github_issues_create', { run_id, title: 'held', body: '' }),
  ].map((call) =>
    call.then(
      () => ({ code: 'ok' }),
      ({ code, effect, message }: { code: string; effect: string; message: string }) => ({
        code,
        effect,
        message,
      }),
    ),
  ),
);
clearInterval(pressure);
process.stdout.write(`${JSON.stringify(ended)}\n`, () => process.exit(0));
