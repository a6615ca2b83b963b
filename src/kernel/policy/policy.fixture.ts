import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import { type McpPolicyConfig, mcpPolicy } from '../../contract/policy.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Effect } from '../../contract/tool.ts';
import { policy as X_POLICY } from '../../toolkits/x/policy.ts';
import { compilePolicy, type PolicyInput } from './compile.ts';
import type { Decision, Policy, PolicyCall, PolicySubject } from './types.ts';

/** A small world of tools for this folder's tests. */
const tool = (
  name: string,
  toolkit: string,
  category: string,
  effect: Effect,
  properties: JsonSchema = {},
  required: readonly string[] = [],
): PolicySubject => ({
  name,
  toolkit,
  category,
  effect,
  inputJson: { type: 'object', properties, required },
});

const TEXT = { text: { type: 'string' } };

export const CATALOGUE: readonly PolicySubject[] = [
  tool(
    'x_post_tweet',
    'x',
    'write',
    'change',
    { ...TEXT, media_ids: { type: 'array', items: { type: 'string' } } },
    ['text'],
  ),
  tool('x_reply_to_tweet', 'x', 'write', 'change', { ...TEXT, in_reply_to_id: { type: 'string' } }, [
    'text',
    'in_reply_to_id',
  ]),
  tool('x_like_tweet', 'x', 'engage', 'change', { tweet_id: { type: 'string' } }, ['tweet_id']),
  tool('x_delete_tweet', 'x', 'write', 'destroy', { tweet_id: { type: 'string' } }, ['tweet_id']),
  tool(
    'x_ads_campaign_create',
    'x',
    'ads',
    'change',
    { budget: { type: 'number' }, days: { type: 'integer', default: 7 } },
    ['budget'],
  ),
  tool('x_v2_dm_send_to_participant', 'x', 'direct_message', 'change', TEXT, ['text']),
  tool(
    'x_search_tweets',
    'x',
    'read',
    'read',
    { query: { type: 'string' }, max_results: { type: 'integer' } },
    ['query'],
  ),
  tool('approve_item', 'x', 'approval', 'decide', { id: { type: 'integer' } }, ['id']),
  {
    ...tool('runs_create', 'dev', 'runs', 'change', { repo: { type: 'string' } }, ['repo']),
    policyName: 'runs.create',
  },
  {
    ...tool(
      'github_issues_create',
      'dev',
      'issues',
      'change',
      {
        title: { type: 'string' },
        options: { type: 'object', properties: { draft: { type: 'boolean' } }, required: ['draft'] },
      },
      ['title'],
    ),
    policyName: 'github.issues.create',
    aliases: ['issues_create'],
  },
  tool('create_code', 'research', 'codes', 'change', { name: { type: 'string' } }, ['name']),
  tool('delete_code', 'research', 'codes', 'destroy', { id: { type: 'integer' } }, ['id']),
  tool('suggest_new_code', 'research', 'suggestions', 'propose', { name: { type: 'string' } }, ['name']),
  tool('order_clawdbot', 'assistant', 'assistant', 'change', { message: { type: 'string' } }, ['message']),
];

export const subjectOf = (name: string): PolicySubject => {
  const found = CATALOGUE.find((subject) => subject.name === name);
  if (!found) throw new Error(`no tool ${name} in the fixture`);
  return found;
};

/** The templates are made of what the toolkits put into them; this one puts most. */
export { X_POLICY };

/** Written as in the file: the schema fills in the rest. */
const policyOf = (written: JsonObject): McpPolicyConfig => mcpPolicy.schema.parse(written);

export const inputOf = (written: JsonObject, rest: Partial<PolicyInput> = {}): PolicyInput => ({
  mode: 'autopilot',
  approvalMode: false,
  catalogue: CATALOGUE,
  toolkits: [X_POLICY],
  ...rest,
  policy: policyOf(written),
});

export const compile = (written: JsonObject, rest: Partial<PolicyInput> = {}): Promise<Policy> =>
  compilePolicy(inputOf(written, rest));

export const callOf = (name: string, rest: Partial<PolicyCall> = {}): PolicyCall => ({
  subject: subjectOf(name),
  args: {},
  principal: LOCAL_AGENT,
  now: new Date('2026-03-02T10:00:00Z'),
  dryRunRequested: false,
  ...rest,
});

export const ask = (policy: Policy, name: string, rest: Partial<PolicyCall> = {}): Decision =>
  policy.decide(callOf(name, rest));
