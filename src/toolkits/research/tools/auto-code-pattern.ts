import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { searchPattern } from '../analysis/pattern-search.ts';
import { applyRanges, codedShape, type RangeOf, showCoded } from '../lib/auto-code.ts';
import { id } from '../lib/ids.ts';
import { reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession, type Session } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import type { ShownText } from '../privacy/pseudonyms.ts';
import { noCode } from '../project/checks.ts';
import { defineResearchTool, type ResearchServices } from '../services.ts';

const input = z.object({
  code_id: id(),
  pattern: z.string(),
  match: z.enum(['exact', 'contains', 'regex']).default('exact'),
  source_ids: z.array(id()).optional(),
  case_sensitive: z.boolean().default(false),
  scope: z.enum(['all', 'first', 'last']).default('all'),
  unit: z.enum(['match', 'sentence', 'paragraph']).default('match'),
  preview: z.boolean().default(false),
});
type Args = z.output<typeof input>;

export const autoCodePattern = defineResearchTool({
  name: 'auto_code_pattern',
  title: 'Code every match of a pattern',
  summary:
    'Auto-code by text pattern: exact words, contained text or a regular expression; the match, its sentence or its paragraph is coded. preview shows what would be coded.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'code_not_found', 'source_not_found', 'validation_error', 'busy'],
  deadlineMs: 300_000,
  input,
  output: codedShape,

  describeApproval: ({ code_id, pattern, match, unit }) =>
    `Apply code ${code_id} to every ${unit === 'match' ? 'match' : `${unit} with a match`} of “${pattern}” (${match})?`,

  async preview(args, context) {
    const session = await openSession(context);
    return showCoded(session, await find(args, session, context), undefined);
  },

  rollback: (args, data, callId) => (data.applied_count > 0 ? undoOfCall(args, data, callId) : undefined),

  async run(args, context) {
    const session = await openSession(context);
    const ranges = await find(args, session, context);
    if (args.preview) return showCoded(session, ranges, undefined);
    const by = await changeBy(context, session, 'auto_code_pattern');
    const applied = await session.project.store.write(by, (project) => applyRanges(project, ranges));
    return showCoded(session, ranges, applied);
  },

  reconcile: (_, context) =>
    reconcile(context, (change) => ({
      preview: false,
      match_count: change.rows.length,
      applied_count: change.rows.length,
      existing_count: 0,
      segments: [],
      truncated: true,
    })),
});

async function find(
  args: Args,
  { lens }: Session,
  { signal }: ToolContext<ResearchServices>,
): Promise<RangeOf[]> {
  if (!lens.reader.code(args.code_id)) throw noCode(args.code_id);
  const sources = args.source_ids
    ? args.source_ids.map((source) => lens.source(source))
    : lens.reader.sources().filter(({ hasText }) => hasText);
  const back: ShownText['original'][] = [];
  /** One after the other: a large project does not fit into memory at once. */
  const texts = function* () {
    for (const source of sources) {
      const shown = lens.shown(source.id);
      back.push(shown.original);
      yield shown.text;
    }
  };
  const { pattern, match, scope, unit } = args;
  const query = { pattern, match, scope, unit, caseSensitive: args.case_sensitive };
  const hits = await searchPattern(texts(), query, { signal });
  const ranges = hits.flatMap((list, at) =>
    list.map((hit) => ({
      codeId: args.code_id,
      sourceId: sources[at]?.id ?? 0,
      ...(back[at]?.(hit) ?? hit),
    })),
  );
  if (ranges.length > MOST) {
    throw new ToolFault(
      'validation_error',
      `The pattern has ${ranges.length} matches; ${MOST} at once is the most. Name source_ids or a narrower pattern.`,
    );
  }
  return ranges;
}

const MOST = 20_000;
