import type { CheckHost, Finding } from '../../../contract/command.ts';
import { dev } from '../config.ts';
import { bwrapWorks } from '../qa/sandbox.ts';

/** What `countersign doctor` asks of the toolkit. */
export const checkDev = async (host: CheckHost): Promise<Finding[]> => [
  ...(await checkQa(host)),
  ...(await checkGithub(host)),
];

/** Only where tests or linters are set up at all. */
async function checkQa({ section }: CheckHost): Promise<Finding[]> {
  const { qa, repos } = section(dev);
  const sets = [qa, ...Object.values(repos)].some(({ test, lint }) => test || lint);
  if (!sets) return [];
  const check = 'tests';
  if (qa.sandbox !== 'off' && (await bwrapWorks()))
    return [{ check, status: 'ok', detail: 'test and lint commands run in a bubblewrap sandbox' }];
  const detail = 'bubblewrap is not installed or cannot run here';
  if (qa.sandbox === 'bwrap')
    return [{ check, status: 'fail', detail, fix: 'Install bubblewrap, or set dev.qa.sandbox = "auto".' }];
  const off = qa.sandbox === 'off';
  return [
    {
      check,
      status: 'warn',
      detail: `test and lint commands run unsandboxed, with your permissions: ${off ? 'dev.qa.sandbox is "off"' : detail}`,
      fix: off ? 'Set dev.qa.sandbox = "auto" to sandbox them.' : 'Install bubblewrap to sandbox them.',
    },
  ];
}

/** Only where GitHub is used: credentials that GitHub rejects are found before an agent meets them. */
async function checkGithub({ section, app }: CheckHost): Promise<Finding[]> {
  if (!app) return [];
  const settings = section(dev);
  const isUsed =
    (settings.forge ?? (app.env.GITHUB_APP_ID ? 'github' : 'local')) === 'github' ||
    Object.values(settings.repos).some(({ forge }) => forge === 'github');
  if (!isUsed) return [];
  const { githubState } = await import('../forge/github/access.ts');
  const { ok, detail, fix } = await githubState(settings.github, app.env);
  return [{ check: 'github', status: ok ? 'ok' : 'fail', detail, ...(fix ? { fix } : {}) }];
}
