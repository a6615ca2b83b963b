import { z } from 'zod';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { View } from '../../contract/toolkit.ts';
import type { DevServices } from './services.ts';

const VIEW_TIMEOUT_MS = 60_000;
const repo = z.string().min(1).default('.').describe('Name of the repository; "." is the current clone.');
const state = z.enum(['open', 'closed', 'all']).default('open');
const limit = z.coerce.number().int().min(1).max(100).default(50);
const number = z.coerce.number().int().min(1);

/** What people see of the toolkit, in the terminal and in the browser. Reads only. */
export const views: Readonly<Record<string, View<DevServices>>> = {
  repos: view(z.object({}), async (_params, { repos }) => ({ repos: [...(await repos.namesForPeople())] })),

  places: view(z.object({}), async (_params, { repos }) => ({ repos: await repos.placesForPeople() })),

  runs: view(z.object({ repo: z.string().optional(), limit }), async (params, services) => {
    const name = params.repo === undefined ? undefined : (await services.repos.forPerson(params.repo)).name;
    return { runs: await services.runs.list({ repo: name, limit: params.limit }) };
  }),

  run: view(z.object({ run_id: z.string() }), async ({ run_id }, { runs }) => {
    const run = await runs.find(run_id);
    if (run) return run;
    const name = JSON.stringify(run_id.slice(0, 100));
    throw new ToolFault('not_found', `There is no run ${name}. See which there are: countersign dev runs`);
  }),

  issues: view(z.object({ repo, state, limit }), async (params, services, signal) => {
    const found = await services.repos.forPerson(params.repo);
    return {
      repo: found.name,
      issues: await found.forge.issues({ state: params.state, limit: params.limit, signal }),
    };
  }),

  issue: view(z.object({ repo, number }), async (params, services, signal) => {
    const found = await services.repos.forPerson(params.repo);
    return { repo: found.name, issue: await found.forge.issue(params.number, signal) };
  }),

  prs: view(z.object({ repo, state, limit }), async (params, services, signal) => {
    const found = await services.repos.forPerson(params.repo);
    return {
      repo: found.name,
      prs: await found.forge.pulls({ state: params.state, limit: params.limit, signal }),
    };
  }),

  pr: view(z.object({ repo, number }), async (params, services, signal) => {
    const { forge, name } = await services.repos.forPerson(params.repo);
    const pr = await forge.pull(params.number, signal);
    const { files, truncated } = await forge.pullFiles(params.number, signal);
    const shown = files.map(({ patch: _patch, ...file }) => file);
    return { repo: name, pr, files: shown, truncated, comments: await forge.comments(params.number, signal) };
  }),

  diff: view(z.object({ repo, number }), async (params, services, signal) => {
    const { forge, name } = await services.repos.forPerson(params.repo);
    const { files, truncated } = await forge.pullFiles(params.number, signal);
    const parts = files.map(
      ({ filename, previous_filename, patch }) =>
        `diff --git a/${previous_filename ?? filename} b/${filename}\n${patch ?? '(no text to show)'}\n`,
    );
    return { repo: name, diff: parts.join(''), truncated };
  }),
};

function view<T extends z.ZodObject>(
  schema: T,
  read: (params: z.output<T>, services: DevServices, signal: AbortSignal) => Promise<unknown>,
): View<DevServices> {
  return async (params: JsonObject, { services }) => {
    const parsed = schema.strict().safeParse(params);
    if (!parsed.success) throw new ToolFault('invalid_input', z.prettifyError(parsed.error));
    const answer = await read(parsed.data as z.output<T>, services, AbortSignal.timeout(VIEW_TIMEOUT_MS));
    // Forges answer plain data; absent fields must be absent and not undefined.
    return JSON.parse(JSON.stringify(answer)) as JsonValue;
  };
}
