import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { presentCategory } from '../present-codings.ts';
import { nameTaken, noCode } from '../project/checks.ts';
import { memoToStore } from '../project/memo.ts';
import { proposeThemes } from '../retrieval/themes.ts';
import { defineResearchTool } from '../services.ts';
import { addedIds, changeBy, openSession, reconcile, sessionOf } from '../session.ts';
import { createProposer } from '../suggestions/propose.ts';
import { id } from './shapes.ts';
import { undoOfCall } from './undo.ts';

/** The change a suggested theme waits for. Not listed: agents suggest themes, the researcher decides. */
export const createCategory = defineResearchTool({
  name: 'create_category',
  title: 'Create a category',
  summary: 'Creates a category and moves codes into it.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: [],
  errors: ['no_project', 'code_not_found', 'conflict', 'validation_error', 'busy'],
  input: z.object({ name: z.string().min(1), memo: z.string().optional(), code_ids: z.array(id()).min(1) }),
  output: z.object({ category_id: z.int(), name: z.string(), moved_codes: z.int() }),

  present: presentCategory,
  rollback: undoOfCall,

  async check({ name, code_ids }, services, principal) {
    const { lens } = await sessionOf(services, principal);
    for (const code of code_ids) if (!lens.reader.code(code)) throw noCode(code);
    const same = lens.reader
      .categories()
      .find((item) => item.name.toLowerCase() === name.trim().toLowerCase());
    if (same) throw nameTaken('category', lens.mask(same.name), same.id);
  },

  async run({ name, memo, code_ids }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'create_category');
    return session.project.store.write(by, (project) => {
      const category_id = project.addCategory({ name, memo: memoToStore(context.principal, memo ?? '') });
      for (const code of code_ids) project.updateCode(code, { categoryId: category_id });
      return { category_id, name: name.trim(), moved_codes: code_ids.length };
    });
  },

  reconcile: ({ name, code_ids }, context) =>
    reconcile(context, (change) => ({
      category_id: addedIds(change, 'code_cat')[0] ?? null,
      name,
      moved_codes: code_ids.length,
    })),
});

export const suggestThemes = defineResearchTool({
  name: 'suggest_themes',
  title: 'Suggest themes',
  summary:
    'Propose themes: groups of codes that are used on the same passages and the same words. Each becomes a category once the researcher approves.',
  effect: 'propose',
  reach: 'local',
  category: 'analysis',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'validation_error'],
  deadlineMs: 300_000,
  input: z.object({
    max_themes: z.int().min(1).max(30).default(8),
    include_categorized: z.boolean().default(false).describe('Also regroup codes that are in a category.'),
  }),
  output: z.object({
    batch_id: z.string(),
    themes: z.array(
      z.object({
        suggestion_id: z.string(),
        name: z.string(),
        codes: z.array(z.object({ id: z.int(), name: z.string() })),
        rationale: z.string(),
        already_pending: z.boolean().optional(),
      }),
    ),
    ungrouped_count: z.int().describe('Codes that resemble no other code.'),
    method: z.string(),
  }),

  async run({ max_themes, include_categorized }, context) {
    const session = await openSession(context);
    const { services, signal } = context;
    const { lens, project } = session;
    const codes = lens.reader.codes().filter((code) => include_categorized || code.categoryId === null);
    if (codes.length < 2)
      throw new ToolError(
        'validation_error',
        'Themes need at least two codes without a category. Set include_categorized to regroup the others.',
      );
    const similar =
      services.config.ai === 'off'
        ? []
        : await (await services.analysis.of(project)).codeSimilarity({ view: lens.reader, signal });
    const { themes, ungrouped } = proposeThemes(codes, lens.reader.codings(), similar);
    const batchId = await services.batches.open(project.id, 'suggest_themes');
    const proposer = await createProposer(context, session);
    const taken = new Set(lens.reader.categories().map(({ name }) => name.toLowerCase()));
    const filed = [];
    for (const theme of themes.slice(0, max_themes)) {
      signal.throwIfAborted();
      let name = theme.name;
      for (let at = 2; taken.has(name.toLowerCase()); at += 1) name = `${theme.name} (${at})`;
      taken.add(name.toLowerCase());
      const { approval, alreadyPending } = await proposer.file({
        tool: 'create_category',
        args: { name, memo: theme.rationale, code_ids: theme.codes.map((code) => code.id) },
        summary: `New category "${name}" with ${theme.codes.map((code) => `"${code.name}"`).join(', ')}`,
        rationale: theme.rationale,
        method: 'co-occurrence and similarity',
        batchId,
      });
      filed.push({
        suggestion_id: approval.uuid,
        name: lens.mask(name),
        codes: theme.codes.map((code) => ({ id: code.id, name: lens.mask(code.name) })),
        rationale: lens.mask(theme.rationale),
        ...(alreadyPending ? { already_pending: true } : {}),
      });
    }
    return {
      batch_id: batchId,
      themes: filed,
      ungrouped_count: ungrouped,
      method: similar.length > 0 ? 'co-occurrence and similarity' : 'co-occurrence',
    };
  },
});
