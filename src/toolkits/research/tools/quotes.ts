import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES, READ_PROFILES } from '../../../contract/tool.ts';
import { showProject } from '../present.ts';
import { presentCoding, presentNote } from '../present-codings.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import { noCode } from '../project/checks.ts';
import { memoToStore } from '../project/memo.ts';
import type { Coding } from '../project/types.ts';
import { findQuote, type QuotePlace } from '../retrieval/quotes.ts';
import { defineResearchTool } from '../services.ts';
import { addedIds, changeBy, openSession, reconcile, sessionOf } from '../session.ts';
import { excerpt, id } from './shapes.ts';
import { undoOfCall } from './undo.ts';

const quote = () =>
  z
    .string()
    .min(1)
    .describe('Words as they appear in the text; case, spaces and quotation marks do not matter.');
/** A quote that differs in more words than this is not coded without asking. */
const LEAST_CODED = 0.9;
const MOST_SHOWN = 20;

export const findQuoteTool = defineResearchTool({
  name: 'find_quote',
  title: 'Find a quote',
  summary:
    'Find where a quote occurs in the sources, even with different spaces or case or a few changed words.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  errors: ['no_project', 'source_not_found'],
  input: z.object({ quote: quote(), source_id: id().optional() }),
  output: z.object({
    count: z.int(),
    places: z.array(
      z.object({
        source_id: z.int(),
        source_name: z.string(),
        start_pos: z.int(),
        end_pos: z.int(),
        text: z.string(),
        similarity: z.number().describe('1 for the same words, less for a similar passage.'),
      }),
    ),
  }),

  async run({ quote: words, source_id }, context) {
    const { lens } = await openSession(context);
    const found = await findQuote(lens, words, sourcesToSearch(lens, source_id), context.signal);
    return { count: found.length, places: found.slice(0, MOST_SHOWN).map((place) => showPlace(lens, place)) };
  },
});

export const codeQuote = defineResearchTool({
  name: 'code_quote',
  title: 'Code a quote',
  summary:
    'Apply a code to the passage that a quote names, instead of positions. The quote is looked up again when the change is made.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'code_not_found', 'source_not_found', 'not_found', 'conflict', 'busy'],
  input: z.object({
    code_id: id(),
    quote: quote(),
    source_id: id().optional(),
    occurrence: z.int().min(1).optional().describe('Which one, where the quote occurs several times.'),
    memo: z.string().optional(),
    important: z.boolean().optional(),
  }),
  output: z.object({
    status: z.string(),
    segment_id: z.int(),
    source_id: z.int(),
    start_pos: z.int(),
    end_pos: z.int(),
    text: z.string(),
    similarity: z.number(),
  }),

  async check(args, services, principal) {
    const { lens } = await sessionOf(services, principal);
    if (!lens.reader.code(args.code_id)) throw noCode(args.code_id);
    await requirePlace(lens, args);
  },

  async present(args, context) {
    const { asker } = await showProject(context);
    if (!asker.reader.code(args.code_id)) throw noCode(args.code_id);
    return presentCoding(args, await requirePlace(asker, args), context);
  },

  rollback: (args, data, callId) => (data.status === 'applied' ? undoOfCall(args, data, callId) : undefined),

  async run(args, context) {
    const session = await openSession(context);
    const { lens } = session;
    const place = await requirePlace(lens, args, context.signal);
    const by = await changeBy(context, session, 'code_quote');
    const coding = {
      codeId: args.code_id,
      sourceId: place.sourceId,
      start: place.start,
      end: place.end,
      memo: memoToStore(context.principal, args.memo ?? ''),
      important: args.important ?? false,
    };
    const { id: segment, created } = await session.project.store.write(
      by,
      (project) => project.addCoding(coding),
      [place.sourceId],
    );
    const { text, similarity } = showPlace(lens, place);
    return {
      status: created ? 'applied' : 'already_coded',
      segment_id: segment,
      source_id: place.sourceId,
      start_pos: place.start,
      end_pos: place.end,
      text,
      similarity,
    };
  },

  reconcile: (_, context) =>
    reconcile(context, (change) => ({
      status: 'applied',
      segment_id: addedIds(change, 'code_text')[0] ?? null,
    })),
});

export const reanchorSegments = defineResearchTool({
  name: 'reanchor_segments',
  title: 'Re-anchor segments',
  summary:
    'Move segments whose text was edited elsewhere to where their words are now. Segments found nowhere or twice are left in place and listed.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'source_not_found', 'busy'],
  input: z.object({ source_id: id().optional() }),
  output: z.object({
    moved_count: z.int(),
    moved: z.array(
      z.object({ segment_id: z.int(), new_segment_id: z.int(), start_pos: z.int(), end_pos: z.int() }),
    ),
    unresolved: z.array(
      z.object({ segment_id: z.int(), source_id: z.int(), text: z.string(), places: z.int() }),
    ),
  }),

  present: ({ source_id }, context) => {
    const what = source_id === undefined ? 'segments of all sources' : 'segments of a source';
    const words = { verb: 'Re-anchor', done: 'Re-anchored', what, text: '' };
    return presentNote(words, [], context);
  },

  rollback: undoOfCall,

  async check({ source_id }, services, principal) {
    const { lens } = await sessionOf(services, principal);
    if (source_id !== undefined) lens.source(source_id);
  },

  async run({ source_id }, context) {
    const session = await openSession(context, source_id ?? 'all');
    const { lens } = session;
    if (source_id !== undefined) lens.source(source_id);
    const lost = lens.reader
      .codings(source_id === undefined ? {} : { sourceId: source_id })
      .filter(({ anchored }) => !anchored);
    const places: { coding: Coding; found: QuotePlace[] }[] = [];
    for (const coding of lost) {
      const all = await findQuote(lens, lens.mask(coding.text), [coding.sourceId], context.signal);
      places.push({ coding, found: all.filter(({ similarity }) => similarity === 1) });
    }
    const clear = places.filter(({ found }) => found.length === 1);
    const by = await changeBy(context, session, 'reanchor_segments');
    const moved =
      clear.length === 0
        ? []
        : await session.project.store.write(
            by,
            (project) =>
              clear.flatMap(({ coding, found: [place] }) => {
                if (!place) return [];
                const { codeId, sourceId, important, owner, date } = coding;
                // The whole memo, of which an agent sees only the public part.
                const memo = project.coding(coding.id)?.memo ?? coding.memo;
                project.removeCoding(coding.id);
                const { start, end } = place;
                const made = project.addCoding({
                  codeId,
                  sourceId,
                  start,
                  end,
                  memo,
                  important,
                  owner,
                  date,
                });
                return [{ segment_id: coding.id, new_segment_id: made.id, start_pos: start, end_pos: end }];
              }),
            clear.map(({ coding }) => coding.sourceId),
          );
    return {
      moved_count: moved.length,
      moved,
      unresolved: places
        .filter(({ found }) => found.length !== 1)
        .map(({ coding, found }) => ({
          segment_id: coding.id,
          source_id: coding.sourceId,
          text: excerpt(lens.mask(coding.text)),
          places: found.length,
        })),
    };
  },

  reconcile: (_, context) =>
    reconcile(context, (change) => ({
      moved_count: addedIds(change, 'code_text').length,
      moved: [],
      unresolved: [],
    })),
});

function sourcesToSearch(lens: PrivacyView, source_id: number | undefined): number[] {
  return source_id === undefined
    ? lens.reader.sources().map((source) => source.id)
    : [lens.source(source_id).id];
}

/** The one place that a quote names, or what is missing to name one. */
async function requirePlace(
  lens: PrivacyView,
  given: {
    readonly quote: string;
    readonly source_id?: number | undefined;
    readonly occurrence?: number | undefined;
  },
  signal?: AbortSignal,
): Promise<QuotePlace> {
  const all = await findQuote(lens, given.quote, sourcesToSearch(lens, given.source_id), signal);
  const found = all.filter(({ similarity }) => similarity >= LEAST_CODED);
  const chosen = given.occurrence === undefined ? found[0] : found[given.occurrence - 1];
  const listed = all.slice(0, 5).map((place) => ({ ...showPlace(lens, place) }));
  if (!chosen)
    throw new ToolError(
      'not_found',
      found.length > 0
        ? `The quote occurs ${found.length} time(s), not ${given.occurrence}.`
        : 'The quote is in no source that you can read.',
      {
        hint: 'Copy the words from read_source_content, or use a longer quote.',
        detail: { similar_places: listed },
      },
    );
  if (found.length > 1 && given.occurrence === undefined)
    throw new ToolError('conflict', `The quote occurs ${found.length} times.`, {
      hint: 'Give source_id, a longer quote or occurrence.',
      detail: { places: listed },
    });
  return chosen;
}

const showPlace = (lens: PrivacyView, { sourceId, start, end, similarity }: QuotePlace) => ({
  source_id: sourceId,
  source_name: lens.mask(lens.source(sourceId).name),
  start_pos: start,
  end_pos: end,
  text: lens.passage(sourceId, start, end).content,
  similarity: Math.round(100 * similarity) / 100,
});
