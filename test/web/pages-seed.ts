import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeRepo } from '../../src/toolkits/dev/test/support/dev.ts';

/** Text that would do harm if it were ever taken for markup, a link, a direction or something short. */
export const HOSTILE = [
  '<script>window.__harmed = 1</script><img src=x onerror="window.__harmed = 2">',
  '[press me](javascript:window.__harmed=3)',
  'safe\u202etxt.exe',
].join(' ');
export const LONG_LINE = 'x'.repeat(100_000);

export const INTERVIEW = [
  'Interviewer: How have you been since the move? 😀',
  '',
  'Ada: Badly. I worry about money every single day, and I worry about the children. We moved for the work, but the work is not there any more, and nobody told us.',
  '',
  'Interviewer: What helps?',
  '',
  'Ada: We talk. My sister calls on Sundays, and the neighbours share what they have. Sometimes I walk along the river until it is dark, and then it is better for a while.',
  '',
  'Interviewer: And the children?',
  '',
  'Ada: They found friends faster than we did. The little one says this is home now.',
].join('\n');

/** About a million characters in ten thousand lines. */
export const LARGE = Array.from(
  { length: 10_000 },
  (_, at) =>
    `Line ${at + 1}: the river was quiet, and 🚣 people said very little about the winter before it; they talked of bread.`,
).join('\n');

interface Acts {
  /** As the signed-in person; throws what is wrong. */
  person(tool: string, args: object): Promise<Record<string, unknown>>;
  /** As an agent over HTTP; gives its reply. */
  agent(tool: string, args: object): Promise<Record<string, unknown>>;
}

const place = (text: string, words: string) => {
  const start = [...text.slice(0, text.indexOf(words))].length;
  return { start, end: start + [...words].length };
};

/** A project with codings that overlap, suggestions that wait, a hostile source and a large one. */
export async function seedResearch({ person, agent }: Acts, folder: string): Promise<void> {
  await person('create_project', { path: join(folder, 'study.qda') });
  await person('add_source', { name: 'interview-ada.txt', content: INTERVIEW });
  await person('add_source', { name: `hostile ${HOSTILE}`, content: `${HOSTILE}\n${LONG_LINE}\n` });
  await person('add_source', { name: 'large.txt', content: LARGE });
  for (const [name, color] of [
    ['Anxiety', '#EE6677'],
    ['Anxious', '#CC3311'],
    ['Money', '#4477AA'],
    ['Coping', '#228833'],
    [`Code ${HOSTILE}`, '#AA3377'],
  ]) {
    await person('create_code', { name, color, memo: name === 'Coping' ? HOSTILE : '' });
  }
  const coding = (code_id: number, words: string) => {
    const { start, end } = place(INTERVIEW, words);
    return { code_id, source_id: 1, start_position: start, end_position: end };
  };
  await person('batch_apply_codes', {
    operations: [
      coding(1, 'I worry about money every single day, and I worry about the children.'),
      coding(3, 'about money every single day'),
      coding(5, 'money'),
      coding(4, 'We talk. My sister calls on Sundays'),
      { code_id: 5, source_id: 2, start_position: 0, end_position: 40 },
    ],
  });
  const suggested = place(INTERVIEW, 'I walk along the river until it is dark');
  await agent('suggest_code_application', {
    source_id: 1,
    code_id: 4,
    start_pos: suggested.start,
    end_pos: suggested.end,
    rationale: `She names a habit that helps. ${HOSTILE}`,
    confidence: 84,
  });
  const second = place(INTERVIEW, 'They found friends faster than we did.');
  await agent('suggest_code_application', {
    source_id: 1,
    code_id: 4,
    start_pos: second.start,
    end_pos: second.end,
    rationale: 'The children cope.',
  });
  await agent('suggest_new_code', {
    name: 'Belonging',
    rationale: 'Home comes up in the last answer.',
    color: '#66CCEE',
  });
  await agent('suggest_merge_codes', {
    source_code_id: 2,
    target_code_id: 1,
    rationale: 'Both name the same feeling.',
  });
}

export async function seedX({ person }: Acts): Promise<void> {
  for (const query of ['rust', 'uptime', 'monitoring', 'the']) {
    await person('find_reply_opportunities', { query, min_score: 0, limit: 20 });
  }
  await person('compose_tweet', { content: `A draft to finish. ${HOSTILE}` });
  await person('compose_tweet', {
    content_type: 'thread',
    content:
      'Three things we learned about uptime checks.\n---\nOne: check from two places.\n---\nTwo: page on symptoms.',
  });
  const at = (days: number, hour: number) => {
    const date = new Date(Date.now() + days * 86_400_000);
    date.setUTCHours(hour, 0, 0, 0);
    return date.toISOString();
  };
  await person('compose_tweet', { content: 'Release notes for 0.2 are out.', scheduled_for: at(1, 9) });
  await person('compose_tweet', { content: 'Office hours on Thursday.', scheduled_for: at(2, 14) });
  await person('x_post_tweet', { text: 'Posted from the sandbox, to have a number.' });
}

/** Two issues, an open pull request, a failed test report. The repository is `[dev.repos.demo]` of the configuration. */
export async function seedDev({ person, agent }: Acts): Promise<string> {
  const run = dataOf(await agent('runs_create', { repo: 'demo', purpose: `Fix the greeting. ${HOSTILE}` }));
  const run_id = String(run.run_id);
  await person('github_issues_create', {
    run_id,
    title: `Greeting is wrong ${HOSTILE}`,
    body: `${HOSTILE} ${LONG_LINE.slice(0, 50_000)}`,
    labels: ['bug'],
  });
  await person('github_issues_create', {
    run_id,
    title: 'Say goodbye too',
    body: 'Nobody likes an abrupt end.',
  });
  await openPull({ person, agent }, run_id, {
    head_branch: 'fix-greeting',
    pr_title: `Greet by name ${HOSTILE}`,
    pr_body: `Closes the issue.\n\n${HOSTILE}`,
    greeting: GREET.replace("'hello'", `'hello, ' + name // ${HOSTILE} ${LONG_LINE}`).replace('()', '(name)'),
  });
  await person('qa_test', { run_id });
  return run_id;
}

interface Change {
  readonly head_branch: string;
  readonly pr_title: string;
  readonly pr_body?: string;
  /** What greet.js becomes. */
  readonly greeting: string;
}

/** An agent asks for one exact change, a person approves it, the agent opens the pull request. */
export async function openPull({ person, agent }: Acts, run_id: string, change: Change): Promise<void> {
  const { greeting, ...rest } = change;
  const args = {
    run_id,
    base_branch: 'main',
    commit_message: 'Greet by name',
    ...rest,
    files: [{ path: 'greet.js', original_content: GREET, modified_content: greeting }],
  };
  const asked = dataOf(
    await agent('approval_request', {
      tool: 'code_branch_pr_create',
      arguments: args,
      reason: 'The greeting.',
    }),
  );
  await person('approve', { id: asked.approval_queue_id });
  await agent('code_branch_pr_create', { ...args, approval_id: asked.approval_id });
}

export const dataOf = (reply: Record<string, unknown>): Record<string, unknown> =>
  (reply.result ?? reply.data ?? reply) as Record<string, unknown>;

export const GREET = ['export function greet() {', "  return 'hello';", '}', '', 'greet();', ''].join('\n');

/** Answers as scripted; when scripted to wait, not before the file named after that word exists. */
const ASSISTANT = `
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
let told = '';
for await (const chunk of process.stdin) told += chunk;
const file = /WAIT (\\S+)/.exec(told)?.[1];
while (file && !existsSync(file)) await sleep(50);
process.stdout.write('I looked at it: ' + told);
`;

/** What the pages need on disk before the server starts; returns the configuration. */
export function seedFiles(folder: string): string {
  makeRepo(join(folder, 'demo'), { 'greet.js': GREET, 'README.md': '# demo\n' });
  makeRepo(join(folder, 'other'));
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const assistant = join(folder, 'bin', 'assistant.mjs');
  writeFileSync(assistant, ASSISTANT);
  chmodSync(assistant, 0o755);
  return [
    '[dev.repos.demo]',
    `path = ${JSON.stringify(join(folder, 'demo'))}`,
    'forge = "local"',
    `test = [${JSON.stringify(process.execPath)}, "-e", "console.log('<b>2 tests</b> failed ' + 'x'.repeat(100000)); process.exit(1)"]`,
    `lint = [${JSON.stringify(process.execPath)}, "-e", "console.log('clean')"]`,
    '[dev.repos.other]',
    `path = ${JSON.stringify(join(folder, 'other'))}`,
    'forge = "local"',
    '[dev.qa]',
    'sandbox = "off"',
    '[targets]',
    'accounts = ["lena_learns"]',
    '[assistant]',
    'backend = "command"',
    `command = [${JSON.stringify(process.execPath)}, ${JSON.stringify(assistant)}]`,
    '',
  ].join('\n');
}
