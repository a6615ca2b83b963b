import { openWorld } from '../../../src/toolkits/dev/test/support/dev.ts';

/** Proposes one code change in a process of its own, so that the test can kill it between any two steps of git. */
const [folder = '', config = '{}', args = '{}', callId = ''] = process.argv.slice(2);
const world = await openWorld({
  cwd: '/',
  folder,
  storageUrl: `${folder}/store.db`,
  config: JSON.parse(config),
});
await world.call('code_branch_pr_create', JSON.parse(args), { callId });
process.stdout.write('done\n');
process.exit(0);
