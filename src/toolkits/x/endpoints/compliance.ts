import type { EndpointRow } from './endpoint.ts';
import { body, path, query } from './params.ts';

const job = { shape: 'one', of: 'compliance_job' } as const;
const types = ['tweets', 'users'] as const;
const appOnly = ['app'] as const;
const rules = { shape: 'many', of: 'rule' } as const;
const RULES = '/2/tweets/search/stream/rules';

export const compliance = {
  x_v2_compliance_jobs: {
    method: 'GET',
    path: '/2/compliance/jobs',
    params: {
      type: query('type', 'text', { values: types, fallback: 'tweets' }),
      status: query('status', 'text', {
        values: ['created', 'in_progress', 'complete', 'expired', 'failed'],
      }),
    },
    credentials: appOnly,
    reply: { shape: 'many', of: 'compliance_job' },
    limit: { max: 150, seconds: 900 },
  },
  x_v2_compliance_job_by_id: {
    method: 'GET',
    path: '/2/compliance/jobs/{id}',
    params: { id: path('id', 'numeric_id') },
    credentials: appOnly,
    reply: job,
    limit: { max: 150, seconds: 900 },
  },
  x_v2_compliance_job_create: {
    method: 'POST',
    path: '/2/compliance/jobs',
    params: {
      type: body('type', 'text', { required: true, values: types }),
      name: body('name', 'text', { maxLength: 64 }),
      resumable: body('resumable', 'boolean'),
    },
    credentials: appOnly,
    reply: job,
    limit: { max: 150, seconds: 900 },
  },
  x_v2_usage_tweets: {
    method: 'GET',
    path: '/2/usage/tweets',
    params: { days: query('days', 'integer', { min: 1, max: 90, fallback: 7 }) },
    credentials: appOnly,
    reply: { shape: 'one', of: 'usage' },
    limit: { max: 50, seconds: 900 },
  },
  x_v2_stream_rules_list: {
    method: 'GET',
    path: RULES,
    params: {},
    credentials: appOnly,
    reply: rules,
    limit: { max: 450, seconds: 900 },
  },
  x_v2_stream_rules_add: {
    method: 'POST',
    path: RULES,
    params: { rules: body('add', 'rules', { required: true, maxItems: 100 }) },
    credentials: appOnly,
    reply: rules,
    limit: { max: 100, seconds: 900 },
  },
  x_v2_stream_rules_delete: {
    method: 'POST',
    path: RULES,
    params: { rule_ids: body('delete.ids', 'ids', { required: true, maxItems: 1000 }) },
    credentials: appOnly,
    effect: 'destroy',
    reply: rules,
    limit: { max: 100, seconds: 900 },
  },
} as const satisfies Record<string, EndpointRow>;
