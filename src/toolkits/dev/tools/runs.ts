import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { principalName } from '../../../contract/principal.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { repoTarget } from '../present.ts';
import type { Run } from '../runs.ts';
import { defineDevTool } from '../services.ts';

export const runsCreate = defineDevTool({
  name: 'runs_create',
  policyName: 'runs.create',
  title: 'Start a run',
  summary: 'Starts a run on one repository; its run_id links the following calls and their evidence.',
  effect: 'change',
  reach: 'network',
  category: 'runs',
  profiles: CHANGE_PROFILES,
  errors: ['not_allowed', 'not_found', 'unavailable'],
  input: z.object({
    repo: z.string().trim().min(1).max(200).describe('owner/name, or the name of a registered clone.'),
    purpose: z.string().trim().min(1, 'must not be blank').max(2000).describe('Why; shown to people.'),
  }),
  output: z.object({ run_id: z.string(), repo: z.string(), purpose: z.string(), created_at: z.string() }),

  async present({ repo: name, purpose }, { services }) {
    const repo = await services.repos.resolve(name);
    return {
      title: `Start a run on ${repo.name}`,
      done: `Started a run on ${repo.name}`,
      act: 'start',
      kind: 'code',
      gist: purpose,
      target: repoTarget(repo, services),
      effect: { text: 'Groups the calls of one task', detail: 'Changes nothing in the repository' },
      undo: { possible: true, text: 'Nothing to undo' },
      body: [{ type: 'document', title: 'Purpose', text: purpose, source: 'agent' }],
      covers: ['repo', 'purpose'],
    };
  },

  async check({ repo }, services) {
    // TOOL_ALLOWLIST does not apply here: its documented names leave this tool out, and without a run none could be used.
    await services.repos.resolve(repo);
  },

  async run({ repo: name, purpose }, { services, callId, principal, signal, now, note }) {
    const repo = await services.repos.resolve(name);
    const base = await repo.forge.defaultBase(signal);
    const run = await services.runs.add({
      run_id: randomUUID(),
      repo: repo.name,
      forge: repo.forge.kind,
      clone: repo.registered ? null : (repo.clone?.gitDir ?? null),
      purpose,
      created_at: now().toISOString(),
      created_by: principalName(principal),
      call_id: callId,
      base_branch: base?.branch ?? null,
      base_commit: base?.commit ?? null,
    });
    note({ run_id: run.run_id });
    return show(run);
  },

  async reconcile(_args, { services, callId }) {
    const run = await services.runs.ofCall(callId);
    return run ? { settled: 'done', data: show(run) } : { settled: 'not_done' };
  },
});

const show = ({ run_id, repo, purpose, created_at }: Run) => ({ run_id, repo, purpose, created_at });
