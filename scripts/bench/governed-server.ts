import { z } from 'zod';
import { openApp } from '../../src/app/app.ts';
import { createServed } from '../../src/app/serving.ts';
import { PROFILES, toolFactory } from '../../src/contract/tool.ts';
import { defineToolkit, type Toolkit } from '../../src/contract/toolkit.ts';
import { tuitbot } from '../../src/toolkits/x/dialect.ts';
import { serveOnHttp } from '../../src/transports/http.ts';
import { serveOnStdio } from '../../src/transports/stdio.ts';

/** Our server with the same tools as the bare one, and one change. Run as a child of the benchmark. */
const [count = '112', how = 'stdio'] = process.argv.slice(2);
const define = toolFactory<undefined>();

const tool = (name: string, effect: 'read' | 'change') =>
  define({
    name,
    title: name,
    summary: 'Gives back what it was given, like any other of these tools.',
    effect,
    reach: 'local',
    category: 'bench',
    profiles: PROFILES,
    errors: [],
    input: z.object({
      text: z.string().optional(),
      limit: z.int().optional(),
      since_id: z.string().optional(),
    }),
    output: z.object({ text: z.string() }),
    run: async ({ text = '' }) => ({ text }),
  });

const toolkit = defineToolkit<undefined>({
  id: 'bench',
  title: 'Benchmark',
  dialect: tuitbot,
  tools: [
    tool('echo', 'read'),
    tool('note', 'change'),
    ...Array.from({ length: Number(count) - 2 }, (_, index) => tool(`tool_${index}`, 'read')),
  ],
  connect: async () => undefined,
}) as unknown as Toolkit;

const app = await openApp({ env: process.env, extraToolkits: [{ id: 'bench', load: async () => toolkit }] });
const served = await createServed(app, { toolkits: ['bench'], profile: 'write', discovery: false });
if (how === 'stdio') {
  await serveOnStdio(served, undefined);
  await app.close();
} else {
  const { port } = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
  process.stdout.write(`${port}\n`);
}
