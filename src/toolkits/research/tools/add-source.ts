import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { memoToStore } from '../lib/memo-of-agent.ts';
import { addedIds, reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { defineResearchTool } from '../services.ts';

export const addSource = defineResearchTool({
  name: 'add_source',
  title: 'Add a text source',
  summary: 'Add a text source to the project. Line ends become LF; origin is kept in the memo.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'conflict', 'validation_error', 'busy'],
  input: z.object({
    name: z.string(),
    content: z.string(),
    memo: z.string().optional(),
    origin: z.string().optional(),
  }),
  output: z.object({
    source_id: z.int(),
    name: z.string(),
    type: z.string(),
    status: z.string(),
    file_size: z.int(),
    total_length: z.int(),
  }),

  describeApproval: ({ name, content }) => `Add the source "${name}" (${content.length} characters)?`,

  check({ content }) {
    if (!content.trim()) throw new ToolFault('validation_error', 'content is empty; a source needs text.');
  },

  rollback: undoOfCall,

  async run({ name, content, memo, origin }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'add_source');
    const note = [memo ?? '', origin ? `Origin: ${origin}` : ''].filter(Boolean).join('\n');
    const kept = memoToStore(context.principal, note);
    return session.project.store.write(by, (project) => {
      const source = project.addSource({ name, text: content, memo: kept });
      const made = project.source(source);
      return {
        source_id: source,
        name: made?.name ?? name,
        type: made?.type ?? 'text',
        status: 'imported',
        file_size: made?.bytes ?? 0,
        total_length: project.text(source)?.length ?? 0,
      };
    });
  },

  reconcile: ({ name }, context) =>
    reconcile(context, (change, project) => {
      const source = addedIds(change, 'source')[0] ?? 0;
      return {
        source_id: source,
        name,
        type: project.source(source)?.type ?? 'text',
        status: 'imported',
        file_size: project.source(source)?.bytes ?? 0,
        total_length: project.text(source)?.length ?? 0,
      };
    }),
});
