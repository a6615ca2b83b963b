import { type JobDoc, type JsonDoc, nextId, type RuleDoc } from '../documents.ts';
import { answer, type Call, type Handler, list, nothing, text } from '../handler.ts';
import { invalidRequest } from '../problems.ts';
import { parseQuery } from '../search.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Jobs live by the clock: an hour to upload, ten minutes of work, a week to fetch the result. */
function renderJob(job: JobDoc, now: Date): JsonDoc {
  const age = now.getTime() - Date.parse(job.created_at);
  const at = (ms: number) => new Date(Date.parse(job.created_at) + ms).toISOString();
  const status =
    age < 5 * MINUTE_MS
      ? 'created'
      : age < 15 * MINUTE_MS
        ? 'in_progress'
        : age < 7 * DAY_MS
          ? 'complete'
          : 'expired';
  return {
    id: job.id,
    type: job.type,
    status,
    created_at: job.created_at,
    resumable: job.resumable,
    ...(job.name ? { name: job.name } : {}),
    upload_url: `https://storage.sandbox.invalid/compliance/${job.id}/upload`,
    upload_expires_at: at(15 * MINUTE_MS),
    download_url: `https://storage.sandbox.invalid/compliance/${job.id}/download`,
    download_expires_at: at(7 * DAY_MS),
  };
}

interface NewRule {
  readonly value: string;
  readonly tag?: string;
}

const addRules: Handler = (call) => {
  const wanted = call.args.rules as readonly NewRule[];
  const created: RuleDoc[] = [];
  const errors: JsonDoc[] = [];
  for (const { value, tag } of wanted) {
    parseQuery(value);
    const known = call.state.all('rules').find((rule) => rule.value === value && rule.tag === tag);
    if (known) {
      errors.push({
        value,
        id: known.id,
        title: 'DuplicateRule',
        type: 'https://api.x.com/2/problems/duplicate-rules',
      });
      continue;
    }
    const id = nextId(call.state, call.now);
    const rule: RuleDoc = tag === undefined ? { id, value } : { id, value, tag };
    call.state.put('rules', id, rule);
    created.push(rule);
  }
  return {
    body: {
      ...(created.length > 0 ? { data: created.map((rule) => ({ ...rule })) } : {}),
      meta: {
        sent: call.now.toISOString(),
        summary: {
          created: created.length,
          not_created: errors.length,
          valid: created.length,
          invalid: errors.length,
        },
      },
      ...(errors.length > 0 ? { errors } : {}),
    },
  };
};

const deleteRules: Handler = (call) => {
  const ids = list(call, 'rule_ids');
  const known = ids.filter((id) => call.state.get('rules', id));
  for (const id of known) call.state.remove('rules', id);
  const missing = ids.filter((id) => !known.includes(id));
  return {
    body: {
      meta: { sent: call.now.toISOString(), summary: { deleted: known.length, not_deleted: missing.length } },
      ...(missing.length > 0
        ? {
            errors: missing.map((id) => ({
              errors: [{ message: `Rule ${id} does not exist` }],
              title: 'Invalid Request',
              detail: 'One or more parameters to your request was invalid.',
              type: 'https://api.x.com/2/problems/invalid-request',
            })),
          }
        : {}),
    },
  };
};

/** Posts read per day: made up from the date, so that the same day always gives the same number. */
const readsOn = (date: Date): number => 40 + ((Math.floor(date.getTime() / DAY_MS) * 2_654_435_761) % 211);

function usage(call: Call): JsonDoc {
  const days = Number(call.args.days ?? 7);
  const midnight = Math.floor(call.now.getTime() / DAY_MS) * DAY_MS;
  const daily = Array.from({ length: days }, (_, index) => new Date(midnight - (days - 1 - index) * DAY_MS));
  const project = daily.map((date) => ({ date: date.toISOString(), usage: String(readsOn(date)) }));
  return {
    project_id: '1770000000000000001',
    project_cap: '15000',
    project_usage: String(daily.reduce((sum, date) => sum + readsOn(date), 0)),
    cap_reset_day: 14,
    daily_project_usage: { project_id: '1770000000000000001', usage: project },
    daily_client_app_usage: [{ client_app_id: '27000001', usage: project, usage_result_count: days }],
  };
}

export const admin = {
  x_v2_compliance_jobs: (call) => {
    const { status } = call.args;
    const jobs = call.state
      .all('jobs')
      .filter((job) => job.type === (call.args.type ?? 'tweets'))
      .map((job) => renderJob(job, call.now))
      .filter((job) => status === undefined || job.status === status);
    return answer(jobs, { meta: { result_count: jobs.length } });
  },
  x_v2_compliance_job_by_id: (call) => {
    const job = call.state.get('jobs', text(call, 'id'));
    return job ? answer(renderJob(job, call.now)) : nothing('compliance_job', 'id', text(call, 'id'));
  },
  x_v2_compliance_job_create: (call) => {
    const type = text(call, 'type');
    const running = call.state
      .all('jobs')
      .find(
        (job) =>
          job.type === type && ['created', 'in_progress'].includes(String(renderJob(job, call.now).status)),
      );
    if (running) {
      throw invalidRequest([
        {
          name: 'type',
          value: type,
          message: `Only one ${type} job can run at a time; ${running.id} is still running`,
        },
      ]);
    }
    const id = nextId(call.state, call.now);
    const job: JobDoc = {
      id,
      type,
      resumable: call.args.resumable === true,
      created_at: call.now.toISOString(),
      ...(call.args.name === undefined ? {} : { name: text(call, 'name') }),
    };
    call.state.put('jobs', id, job);
    return answer(renderJob(job, call.now));
  },
  x_v2_usage_tweets: (call) => answer(usage(call)),
  x_v2_stream_rules_list: (call) => {
    const rules = call.state.all('rules').map((rule) => ({ ...rule }));
    return {
      body: {
        ...(rules.length > 0 ? { data: rules } : {}),
        meta: { sent: call.now.toISOString(), result_count: rules.length },
      },
    };
  },
  x_v2_stream_rules_add: addRules,
  x_v2_stream_rules_delete: deleteRules,
} satisfies Record<string, Handler>;
