import { byAgent, openBench } from '../../../src/toolkits/research/test/support/research.ts';

/** Adds codes to a project, one change after the other, while others do the same. */
const [dir = '', path = '', name = '', count = '0'] = process.argv.slice(2);
const bench = await openBench(dir);
const project = bench.open(path);
for (let n = 0; n < Number(count); n += 1) {
  await project.write(byAgent('add', { callId: `${name}-${n}` }), (writer) =>
    writer.addCode({ name: `${name} ${n}` }),
  );
}
project.close();
await bench.db.destroy();
