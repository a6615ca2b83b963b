import { byAgent, openBench } from '../../../src/toolkits/research/test/support/research.ts';

/** Changes a project in a process of its own and stops at a named step, so that the test can kill it exactly there. */
const [dir = '', path = '', step = '', job = ''] = process.argv.slice(2);
const bench = await openBench(dir);
const project = bench.open(path);

const stopAt = (name: string) => {
  if (name !== step) return;
  process.stdout.write(`at ${name}\n`);
  // Truly stopped: no timer, no promise, no exit handler can run.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
};

const { prepare, settle } = Object.getPrototypeOf(project.journal) as typeof project.journal;
project.journal.prepare = async (change) => {
  stopAt('before-note');
  const id = await prepare.call(project.journal, change);
  stopAt('before-commit');
  return id;
};
project.journal.settle = async (id, state) => {
  stopAt('after-commit');
  return settle.call(project.journal, id, state);
};

if (step === '') process.stdout.write('go\n');
await project.write(byAgent(job, { callId: 'the-call' }), (writer) => {
  if (job === 'merge') {
    writer.mergeCodes(5, 1);
    stopAt('half-way');
    writer.mergeCodes(2, 1);
  } else if (job === 'import') {
    for (let n = 0; n < 50; n += 1) {
      writer.addSource({
        name: `new ${n}`,
        text: 'x'.repeat(5000),
        mediaPath: `/docs/new ${n}.txt`,
        file: Buffer.from('x'),
      });
      if (n === 25) stopAt('half-way');
    }
  } else {
    for (let n = 0; n < 2000; n += 1) {
      writer.addCoding({
        codeId: 1 + Math.floor(n / 1000),
        sourceId: 1,
        start: n % 100,
        end: 101 + (Math.floor(n / 100) % 10),
      });
      if (n === 1000) stopAt('half-way');
    }
  }
});
process.stdout.write('done\n');
process.exit(0);
