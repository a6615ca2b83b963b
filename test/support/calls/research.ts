import type { JsonObject, JsonValue } from '../../../src/contract/json.ts';

/** What earlier calls of the table returned, by tool. */
export type Replies = ReadonlyMap<string, JsonValue | undefined>;

type Args = JsonObject | ((replies: Replies) => JsonObject);

const field = (replies: Replies, tool: string, ...path: (string | number)[]): JsonValue => {
  let value: unknown = replies.get(tool);
  for (const key of path) value = (value as Record<string | number, unknown> | undefined)?.[key];
  return (value ?? 'none') as JsonValue;
};

const RANGE = { source_id: 1, start_pos: 0, end_pos: 60 };

/**
 * One call or more of every tool that agents are offered, on the QualCoder project of the tests, in an order in which each can succeed.
 * Suites that try something on all tools go through this table.
 */
export const RESEARCH_CALLS: readonly (readonly [tool: string, args: Args])[] = [
  ['get_project_context', {}],
  ['list_sources', {}],
  ['read_source_content', { source_id: 1 }],
  ['navigate_to_segment', RANGE],
  ['list_codes', {}],
  ['get_code', { code_id: 1 }],
  ['list_segments_for_source', { source_id: 1 }],
  ['list_segments_for_code', { code_id: 1 }],
  ['search_segments', { all_of: [1], any_of: [5], none_of: [2] }],
  ['list_cases', {}],
  ['list_attributes', {}],
  ['compare_groups', { attribute: 'Age' }],
  ['list_memos', {}],
  ['list_journal', {}],
  ['find_quote', { quote: 'worry about money' }],
  ['find_quote', { quote: 'they worry about the rent all the time' }],
  ['find_similar_content', { search_text: 'worry about money', code_id: 1 }],
  ['analyze_uncoded_text', { source_id: 1 }],
  ['analyze_content_for_codes', { source_id: 1 }],
  ['detect_duplicate_codes', { threshold: 0, include_usage_analysis: true }],
  ['summarize_segments', { source_id: 1 }],
  ['summarize_segments', { code_id: 1 }],
  ['export_codebook', { examples: 5 }],
  ['export_codebook', { format: 'csv', examples: 5 }],
  ['suggest_themes', { include_categorized: true }],
  ['suggest_codes_for_range', RANGE],
  ['auto_suggest_codes', { source_id: 1, min_confidence: 0 }],
  [
    'get_suggestion_batch_status',
    (replies) => ({ batch_id: field(replies, 'auto_suggest_codes', 'batch_id') }),
  ],
  ['suggest_source_metadata', { source_id: 1, language: 'en', topics: ['sleep'] }],
  ['suggest_new_code', { name: 'Debt', rationale: 'They owe money.' }],
  [
    'suggest_code_application',
    { ...RANGE, code_id: 2, rationale: 'They say who helps.', include_text: true },
  ],
  ['suggest_merge_codes', { source_code_id: 5, target_code_id: 1, rationale: 'The same feeling.' }],
  ['suggest_batch_coding', { code_id: 2, segments: [{ ...RANGE, start_pos: 4 }], rationale: 'Help again.' }],
  ['list_pending_suggestions', {}],
  ['list_pending_coding_suggestions', {}],
  [
    'approve_suggestion',
    (replies) => ({ suggestion_id: field(replies, 'suggest_new_code', 'suggestion_id') }),
  ],
  [
    'approve_coding_suggestion',
    (replies) => ({ suggestion_id: field(replies, 'suggest_code_application', 'suggestion_id') }),
  ],
  [
    'reject_coding_suggestion',
    (replies) => ({ suggestion_id: field(replies, 'suggest_code_application', 'suggestion_id') }),
  ],
  ['approve_batch_coding', (replies) => ({ batch_id: field(replies, 'auto_suggest_codes', 'batch_id') })],
  [
    'approve_merge',
    (replies) => ({ merge_suggestion_id: field(replies, 'suggest_merge_codes', 'merge_suggestion_id') }),
  ],
  ['create_code', { name: 'Sleep', memo: 'How people sleep.' }],
  ['update_code', { code_id: 2, memo: 'What helps.' }],
  ['code_quote', { code_id: 2, quote: 'worry about money', source_id: 1 }],
  ['batch_apply_codes', { operations: [{ code_id: 1, source_id: 1, start_position: 3, end_position: 40 }] }],
  ['update_coding', { segment_id: 7, memo: 'Clear enough.' }],
  ['add_annotation', { ...RANGE, memo: 'Read again.' }],
  ['update_memo', { target: 'source', id: 1, memo: 'The first talk.' }],
  ['add_journal_entry', { name: 'Week one', entry: 'Read one interview.' }],
  ['add_source', { name: 'later.txt', content: 'Ada: I sleep better now.' }],
  ['auto_code_pattern', { code_id: 2, pattern: 'helps', unit: 'sentence' }],
  ['auto_code_speaker', { source_id: 1, preview: true }],
  ['reanchor_segments', {}],
  ['remove_coding', { segment_id: 9 }],
  ['merge_codes', { source_code_id: 5, target_code_id: 1 }],
  ['delete_code', { code_id: 1, delete_segments: true }],
];

export const argsOfCall = (args: Args, replies: Replies): JsonObject =>
  typeof args === 'function' ? args(replies) : args;
