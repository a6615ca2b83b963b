import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import { dev } from './config.ts';
import { toolkit } from './toolkit.ts';

/** As the document lists them: name, policy name, effect, required arguments, optional ones. */
const DOCUMENTED = [
  ['runs_create', 'runs.create', 'change', ['repo', 'purpose'], []],
  [
    'github_issues_create',
    'github.issues.create',
    'change',
    ['run_id', 'title', 'body'],
    ['labels', 'dry_run'],
  ],
  ['github_issues_batch_create', 'github.issues.batch_create', 'change', ['run_id', 'issues'], ['dry_run']],
  [
    'github_pr_comment_create',
    'github.pr.comment.create',
    'change',
    ['run_id', 'pr_number', 'body'],
    ['dry_run'],
  ],
  ['github_pr_get', 'github.pr.get', 'read', ['run_id', 'pr_number'], []],
  ['github_pr_files_list', 'github.pr.files.list', 'read', ['run_id', 'pr_number'], []],
  ['qa_test', 'qa.test', 'change', ['run_id'], ['dry_run']],
  ['qa_lint', 'qa.lint', 'change', ['run_id'], ['dry_run']],
  [
    'code_patch_generate',
    'code.patch.generate',
    'read',
    ['run_id', 'path', 'original_content', 'modified_content'],
    ['dry_run'],
  ],
  [
    'code_branch_pr_create',
    'code.branch_pr.create',
    'change',
    ['run_id', 'approval_id', 'base_branch', 'head_branch', 'commit_message', 'pr_title', 'files'],
    ['pr_body', 'dry_run'],
  ],
] as const;

/** Beyond the document. */
const ADDED = [
  'code_branch_pr_update',
  'code_read',
  'code_tree',
  'code_search',
  'github_issue_get',
  'github_issues_list',
  'github_pr_list',
  'github_pr_comments_list',
  'github_checks_get',
];

describe('the dev toolkit', () => {
  it('lists the ten documented tools first, then its own, and none of those for people', () => {
    const listed = toolkit.tools.filter(({ profiles }) => profiles.length > 0).map(({ name }) => name);
    expect(listed).toEqual([...DOCUMENTED.map(([name]) => name), ...ADDED]);
    const unlisted = toolkit.tools.filter(({ profiles }) => profiles.length === 0).map(({ name }) => name);
    expect(unlisted).toEqual(['dev_pr_merge', 'dev_pr_review', 'dev_pr_close', 'dev_issue_close']);
  });

  it.each(DOCUMENTED)(
    '%s takes the documented arguments under the documented policy name',
    (name, policyName, effect, required, optional) => {
      const tool = toolkit.tools.find((each) => each.name === name);
      expect(tool).toMatchObject({ policyName, effect });
      const schema = tool?.input.json as {
        properties: object;
        required: string[];
        additionalProperties: boolean;
      };
      expect([...schema.required].sort()).toEqual([...required].sort());
      expect(Object.keys(schema.properties).sort()).toEqual([...required, ...optional].sort());
      expect(schema.additionalProperties).toBe(false);
    },
  );

  it('gives every change a way to be settled after a crash and words for the person who decides', () => {
    for (const tool of toolkit.tools.filter(({ effect }) => effect === 'change')) {
      expect(tool.reconcile, tool.name).toBeTypeOf('function');
      expect(tool.present, tool.name).toBeTypeOf('function');
    }
  });

  it('replays issues and comments within their run and nothing else', () => {
    const replaying = toolkit.tools.filter(({ replayScope }) => replayScope).map(({ name }) => name);
    expect(replaying).toEqual(['github_issues_create', 'github_pr_comment_create']);
    expect(toolkit.tools[1]?.replayScope?.({ run_id: 'r1' })).toBe('run:r1');
  });

  it('groups every documented call but the first under its run', () => {
    for (const [name] of DOCUMENTED.slice(1)) {
      expect(toolkit.tools.find((each) => each.name === name)?.runOf?.({ run_id: 'r1' }), name).toBe('r1');
    }
  });

  it('takes titles and labels of one line only', () => {
    const tool = toolkit.tools.find(({ name }) => name === 'github_issues_create');
    const fits = (more: JsonObject) => tool?.input.parse({ run_id: 'r', title: 't', body: '', ...more }).ok;
    for (const text of ['a\nb', 'a\rb', 'a\u0085b', 'a\u2028b', 'a\u2029Signed-off-by: x']) {
      expect(fits({ title: text }), JSON.stringify(text)).toBe(false);
      expect(fits({ labels: [text] }), JSON.stringify(text)).toBe(false);
    }
    for (const text of ['Grüße: "x" <y>', '修复 🚀', 'e\u0301', 'مرحبا']) {
      expect(fits({ title: text, labels: [text] }), text).toBe(true);
    }
  });

  it('does not start with a QA command that no system could run', () => {
    for (const test of [[], [''], [' ', 'x'], ['echo', 'a\0b']]) {
      expect(dev.schema.safeParse({ qa: { test } }).success, JSON.stringify(test)).toBe(false);
      expect(dev.schema.safeParse({ repos: { a: { test } } }).success, JSON.stringify(test)).toBe(false);
    }
    expect(dev.schema.safeParse({ qa: { test: ['echo', ''] } }).success).toBe(true);
  });
});
