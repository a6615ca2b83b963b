export interface Project {
  readonly project_open: boolean;
  readonly project_id: string;
  readonly project_name: string;
  readonly project_path: string;
  readonly format_version: string;
  readonly coder: string;
  readonly ai: 'off' | 'local' | 'llm';
  readonly source_count: number;
  readonly code_count: number;
  readonly coding_count: number;
  readonly pending_count: number;
  readonly open_in_qualcoder_by: string | null;
  readonly recent: readonly { readonly path: string; readonly last_opened: string }[];
}

export interface Source {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly memo: string;
  readonly bytes: number;
  readonly has_text: boolean;
  readonly code_count: number;
  readonly off_limits: boolean;
}

export interface SourcePage {
  readonly content: string;
  readonly start_pos: number;
  readonly end_pos: number;
  readonly total_length: number;
  readonly has_more: boolean;
}

export interface Coding {
  readonly id: number;
  readonly code_id: number;
  readonly code_name: string;
  readonly start_position: number;
  readonly end_position: number;
  readonly selected_text: string;
  readonly memo: string;
  readonly importance: number;
  readonly owner: string;
  readonly color: string;
  readonly anchored: boolean;
  readonly made_by: {
    readonly principal: string;
    readonly approved_by: string | null;
    readonly method: string | null;
    readonly confidence: number | null;
  } | null;
}

export interface CodingSuggestion {
  readonly approval_id: number;
  /** Changes with every edit of what is suggested. */
  readonly version: number;
  readonly code_id: number;
  readonly code_name: string;
  readonly color: string;
  readonly start_pos: number;
  readonly end_pos: number;
  readonly rationale: string;
  readonly confidence: number | null;
  readonly suggested_by: string;
}

export interface Annotation {
  readonly id: number;
  readonly start_pos: number;
  readonly end_pos: number;
  readonly memo: string;
  readonly owner: string;
}

export interface Marks {
  readonly segments: readonly Coding[];
  readonly suggestions: readonly CodingSuggestion[];
  readonly annotations: readonly Annotation[];
}

export interface Code {
  readonly id: number;
  readonly name: string;
  readonly color: string;
  readonly memo: string;
  readonly segment_count: number;
  readonly children: readonly Code[];
}

export interface Category {
  readonly id: number;
  readonly name: string;
  readonly categories: readonly Category[];
  readonly codes: readonly Code[];
}

export interface CodeTree {
  readonly categories: readonly Category[];
  readonly codes: readonly Code[];
}

export interface Suggestion {
  readonly approval_id: number;
  /** Changes with every edit of what is suggested. */
  readonly version: number;
  readonly kind: 'code' | 'merge' | 'coding' | 'metadata';
  readonly args: Readonly<Record<string, unknown>>;
  readonly summary: string;
  readonly rationale: string;
  readonly confidence: number | null;
  readonly suggested_by: string;
  readonly created_at: string;
  readonly status: string;
  readonly risks: readonly string[];
  readonly feedback: string | null;
  readonly decision_reason: string | null;
  readonly passage: {
    readonly source_name: string;
    readonly before: string;
    readonly text: string;
    readonly after: string;
  } | null;
}

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Every code of the tree, categories before what stands at the top. */
export function flatCodes({ categories, codes }: CodeTree): Code[] {
  const under = (code: Code): Code[] => [code, ...code.children.flatMap(under)];
  return [
    ...categories.flatMap((each): Code[] => flatCodes({ categories: each.categories, codes: each.codes })),
    ...codes.flatMap(under),
  ];
}
