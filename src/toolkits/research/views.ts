import { z } from 'zod';
import { defineView } from '../../contract/view.ts';

// What people see of a project, as schemas alone: pages and commands take their types from here.

const wholeNumber = z.coerce.number<number>().int();
const named = z.object({ id: z.int(), name: z.string() });

export const codeShape = z.object({
  id: z.int(),
  name: z.string(),
  color: z.string(),
  segment_count: z.int(),
  memo: z.string(),
  category_id: z.int().nullable(),
  category_name: z.string().nullable(),
  parent_code_id: z.int().nullable(),
  owner: z.string(),
  created_at: z.string(),
});

export const segmentShape = z.object({
  id: z.int(),
  source_id: z.int(),
  code_id: z.int(),
  code_name: z.string(),
  start_position: z.int(),
  end_position: z.int(),
  selected_text: z.string(),
  memo: z.string(),
  importance: z.int(),
  owner: z.string(),
  created_at: z.string(),
  anchored: z
    .boolean()
    .describe('False when the text was edited elsewhere and the position is only a guess.'),
  made_by: z
    .object({
      principal: z.string(),
      approved_by: z.string().nullable(),
      method: z.string().nullable(),
      confidence: z.int().nullable(),
    })
    .nullable()
    .describe('Who created it through Countersign; null if created in QualCoder.'),
});

export const pendingShape = z.object({
  suggestion_id: z.string(),
  rationale: z.string(),
  confidence: z.int().nullable(),
  status: z.string(),
  suggested_by: z.string(),
  method: z.string().nullable(),
  created_at: z.string(),
  batch_id: z.string().nullable(),
});

export const changeShape = z.object({
  change_id: z.int(),
  call_id: z.string(),
  tool: z.string(),
  at: z.string(),
  owner: z.string(),
  principal: z.string(),
  approved_by: z.string().nullable(),
  method: z.string().nullable(),
  state: z.string(),
  undoes: z.int().nullable(),
  summary: z.string(),
});

const COUNTS = {
  total: z.int(),
  approved: z.int(),
  rejected: z.int(),
  pending: z.int(),
  failed: z.int(),
};

export const trailShape = z.object({
  project: z.object({
    name: z.string(),
    path: z.string(),
    format_version: z.string(),
    created_at: z.string(),
    sources: z.int(),
    codes: z.int(),
    codings: z.int(),
  }),
  period: z.object({ from: z.string().nullable(), until: z.string().nullable() }),
  actors: z.array(
    z.object({
      principal: z.string(),
      kind: z.enum(['agent', 'person', 'system']),
      clients: z.array(z.string()),
      calls: z.int(),
      reads: z.int(),
      changes: z.int(),
      refused: z.int(),
      suggestions: z.int(),
      decisions: z.int(),
      sources_read: z.int(),
    }),
  ),
  suggestions: z.array(
    z.object({
      kind: z.string(),
      ...COUNTS,
    }),
  ),
  /** Changes that agents did not suggest but called, and that waited for a person. */
  asked_first: z.object(COUNTS),
  rejection_reasons: z.array(z.object({ suggestion: z.string(), reason: z.string(), feedback: z.string() })),
  codings_by_coder: z.array(
    z.object({ coder: z.string(), kind: z.enum(['agent', 'person']), count: z.int() }),
  ),
  agent_codings: z.object({ approved: z.int(), unapproved: z.int(), unknown: z.int() }),
  methods: z.array(z.object({ method: z.string(), changes: z.int() })),
  changes: z.object({ applied: z.int(), undone: z.int() }),
  privacy: z.object({ off_limits_sources: z.int(), pseudonyms: z.int() }),
  checkpoint: z.string().nullable(),
});

const recent = z.array(z.object({ path: z.string(), last_opened: z.string() }));
const coderKind = z.enum(['agent', 'person']);

const openProject = z.object({
  project_open: z.literal(true),
  project_id: z.string(),
  project_name: z.string(),
  project_path: z.string(),
  format_version: z.string(),
  created_at: z.string(),
  memo: z.string(),
  coder: z.string(),
  ai: z.enum(['off', 'local', 'llm']),
  source_count: z.int(),
  code_count: z.int(),
  category_count: z.int(),
  case_count: z.int(),
  coding_count: z.int(),
  coders: z.array(z.object({ name: z.string(), count: z.int(), kind: coderKind })),
  pending_count: z.int(),
  off_limits_count: z.int(),
  pseudonym_count: z.int(),
  open_in_qualcoder_by: z.string().nullable(),
  recent,
});

const treeCode = codeShape.extend({
  get children() {
    return z.array(treeCode);
  },
});

const treeCategory = z.object({
  id: z.int(),
  name: z.string(),
  memo: z.string(),
  get categories() {
    return z.array(treeCategory);
  },
  codes: z.array(treeCode),
});

const marks = {
  segments: z.array(segmentShape.extend({ color: z.string() })),
  annotations: z.array(
    z.object({
      id: z.int(),
      start_pos: z.int(),
      end_pos: z.int(),
      memo: z.string(),
      owner: z.string(),
    }),
  ),
  suggestions: z.array(
    pendingShape.extend({
      approval_id: z.int(),
      /** Changes with every edit of what is suggested. */
      version: z.int(),
      code_id: z.int(),
      code_name: z.string(),
      color: z.string(),
      start_pos: z.int(),
      end_pos: z.int(),
    }),
  ),
};

const passageShape = z.object({
  source_name: z.string(),
  before: z.string(),
  text: z.string(),
  after: z.string(),
});

/** Some rows carry the whole code or source; its name is what a table needs. */
const subject = z.looseObject(named.shape);

export const views = {
  project: defineView({
    params: z.object({}),
    output: z.discriminatedUnion('project_open', [
      openProject,
      z.object({ project_open: z.literal(false), recent }),
    ]),
  }),
  sources: defineView({
    params: z.object({}),
    output: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        type: z.string(),
        memo: z.string(),
        owner: z.string(),
        created_at: z.string(),
        bytes: z.int(),
        has_text: z.boolean(),
        code_count: z.int(),
        off_limits: z.boolean(),
      }),
    ),
  }),
  source: defineView({
    params: z.object({
      source_id: wholeNumber,
      start_pos: wholeNumber.min(0).default(0),
      max_length: wholeNumber.min(1).max(200_000).default(20_000),
    }),
    output: z.object({
      source_id: z.int(),
      source_name: z.string(),
      type: z.string(),
      memo: z.string(),
      content: z.string(),
      start_pos: z.int(),
      end_pos: z.int(),
      total_length: z.int(),
      has_more: z.boolean(),
      ...marks,
    }),
  }),
  marks: defineView({
    params: z.object({ source_id: wholeNumber }),
    output: z.object({ source_id: z.int(), ...marks }),
  }),
  codes: defineView({
    params: z.object({}),
    output: z.object({ categories: z.array(treeCategory), codes: z.array(treeCode) }),
  }),
  code: defineView({
    params: z.object({
      code_id: wholeNumber,
      offset: wholeNumber.min(0).default(0),
      limit: wholeNumber.min(1).max(1000).default(100),
    }),
    output: codeShape.extend({
      total: z.int(),
      segments: z.array(segmentShape.extend({ source_name: z.string() })),
    }),
  }),
  suggestions: defineView({
    params: z.object({ state: z.enum(['pending', 'rejected', 'done', 'failed']).default('pending') }),
    output: z.array(
      pendingShape.extend({
        approval_id: z.int(),
        /** Changes with every edit of what is suggested. */
        version: z.int(),
        kind: z.enum(['code', 'merge', 'coding', 'metadata']),
        args: z.record(z.string(), z.unknown()),
        summary: z.string(),
        risks: z.array(z.string()),
        decision_reason: z.string().nullable(),
        feedback: z.string().nullable(),
        passage: passageShape.nullable(),
      }),
    ),
  }),
  passage: defineView({
    params: z.object({
      project: z.string().optional(),
      code_id: z.int(),
      source_id: z.int(),
      start_pos: z.int(),
      end_pos: z.int(),
    }),
    output: passageShape
      .extend({ code_name: z.string().nullable(), code_color: z.string().nullable() })
      .nullable(),
  }),
  batch: defineView({
    params: z.object({ batch_id: z.string() }),
    output: z.object({
      batch_id: z.string(),
      status: z.string(),
      total_count: z.int(),
      pending_count: z.int(),
      reviewed_count: z.int(),
      applied_count: z.int(),
      rejected_count: z.int(),
      failed_count: z.int(),
      suggestions: z.array(pendingShape),
    }),
  }),
  changes: defineView({
    params: z.object({ limit: wholeNumber.min(1).max(500).default(50), before: wholeNumber.optional() }),
    /** `about`: names of the codes, sources and cases it concerns. */
    output: z.array(changeShape.extend({ about: z.array(z.string()) })),
  }),
  privacy: defineView({
    params: z.object({}),
    output: z.object({
      off_limits: z.array(named),
      pseudonyms: z.array(z.object({ original: z.string(), pseudonym: z.string() })),
    }),
  }),
  agreement: defineView({
    params: z.object({
      unit: z.enum(['character', 'segment']).default('character'),
      per_source: z.stringbool().or(z.boolean()).default(false),
    }),
    output: z.array(
      z.object({
        code: subject.nullable(),
        source: subject.nullable(),
        between: z.enum(['people', 'agents', 'people_and_agents']),
        coders: z.array(z.string()),
        measure: z.enum(['cohen_kappa', 'fleiss_kappa', 'krippendorff_alpha']),
        value: z.number().nullable(),
        interval: z.object({ low: z.number(), high: z.number(), level: z.number() }).nullable(),
        observed: z.number().nullable(),
        units: z.int(),
        note: z.string().optional(),
      }),
    ),
  }),
  statistics: defineView({
    params: z.object({}),
    output: z.object({
      frequencies: z.array(
        z.object({
          code: named,
          segments: z.int(),
          sources: z.int(),
          characters: z.int(),
          share: z.number(),
          byCoder: z.record(z.string(), z.int()),
        }),
      ),
      co_occurrence: z.array(
        z.object({
          first: subject,
          second: subject,
          exact: z.int(),
          inclusion: z.int(),
          overlap: z.int(),
          proximity: z.int(),
          together: z.int(),
          coefficient: z.number(),
        }),
      ),
      case_matrix: z.object({
        codes: z.array(named),
        cases: z.array(named),
        segments: z.array(z.array(z.int())),
        characters: z.array(z.array(z.int())),
      }),
    }),
  }),
  audit_trail: defineView({ params: z.object({}), output: trailShape }),
};
