import { ToolError } from '../../contract/errors.ts';
import { serve } from '../../contract/view.ts';
import { timeLimit } from '../../lib/time-limit.ts';
import type { Forge } from './forge/port.ts';
import type { DevServices } from './services.ts';
import { checksOf } from './tools/pulls.ts';
import { views } from './views.ts';

const VIEW_TIMEOUT_MS = 60_000;

function within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = timeLimit(VIEW_TIMEOUT_MS);
  return work(limit.signal).finally(() => limit.clear());
}

/** What people see of the toolkit, in the terminal and in the browser. Reads only. */
export const served = serve<DevServices, typeof views>(views, {
  repos: async (_params, { services: { repos } }) => ({ repos: await repos.namesForPeople() }),

  places: async (_params, { services: { repos } }) => ({ repos: await repos.placesForPeople() }),

  async runs({ repo, limit }, { services }) {
    const name = repo === undefined ? undefined : (await services.repos.forPerson(repo)).name;
    return { runs: await services.runs.list({ repo: name, limit }) };
  },

  async run({ run_id }, { services: { runs } }) {
    const run = await runs.find(run_id);
    if (run) return run;
    const name = JSON.stringify(run_id.slice(0, 100));
    throw new ToolError('not_found', `Run ${name} not found. List runs: countersign dev runs`);
  },

  async issues({ repo, state, limit }, { services }) {
    const found = await services.repos.forPerson(repo);
    const issues = await within((signal) => found.forge.issues({ state, limit, signal }));
    return { repo: found.name, issues };
  },

  async issue({ repo, number }, { services }) {
    const found = await services.repos.forPerson(repo);
    return { repo: found.name, issue: await within((signal) => found.forge.issue(number, signal)) };
  },

  async prs({ repo, state, limit }, { services }) {
    const found = await services.repos.forPerson(repo);
    const prs = await within((signal) => found.forge.pulls({ state, limit, signal }));
    return { repo: found.name, prs };
  },

  async pr({ repo, number }, { services }) {
    const { forge, name } = await services.repos.forPerson(repo);
    return within(async (signal) => {
      const pr = await forge.pull(number, signal);
      const { files, truncated } = await forge.pullFiles(number, signal);
      const shown = files.map(({ patch: _patch, ...file }) => file);
      return { repo: name, pr, files: shown, truncated, comments: await remarks(forge, number, signal) };
    });
  },

  async checks({ repo, number }, { services }) {
    const found = await services.repos.forPerson(repo);
    return within(async (signal) => {
      const commit = (await found.forge.pull(number, signal)).head.sha;
      return { repo: found.name, commit, ...(await checksOf(services, found, commit, signal)) };
    });
  },

  async diff({ repo, number }, { services }) {
    const { forge, name } = await services.repos.forPerson(repo);
    return { repo: name, files: await within((signal) => forge.pullDiff(number, signal)) };
  },
});

/** Comments and reviews in the order they were written. */
async function remarks(forge: Forge, number: number, signal: AbortSignal) {
  const all = [...(await forge.comments(number, signal)), ...(await forge.reviews(number, signal))];
  return all.sort((a, b) => a.created_at.localeCompare(b.created_at));
}
