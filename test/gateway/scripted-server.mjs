// A server without any SDK, so that it can do what none would let it: everything it lists and does comes from a JSON
// file that a test changes while it runs. Each `tools/call` it receives is appended to `<file>.calls`.
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const file = process.argv[2];
const script = () => JSON.parse(readFileSync(file, 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const { grandchild, stubborn, dieAtStart } = script();
appendFileSync(`${file}.starts`, `${process.pid}\n`);
if (dieAtStart) process.exit(3);
if (grandchild) {
  const child = spawn('/bin/sh', ['-c', 'trap "" TERM; while :; do sleep 1; done'], { stdio: 'ignore' });
  appendFileSync(`${file}.starts`, `${child.pid}\n`);
}
if (stubborn) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
}

const handle = (taskId) => ({
  taskId,
  status: 'working',
  createdAt: new Date().toISOString(),
  lastUpdatedAt: new Date().toISOString(),
  ttl: 60_000,
  pollInterval: 50,
});

/** A process that once gave this listing gives it until it ends. */
let listing;
const LISTS = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize')
    return send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: {
          tools: { listChanged: true },
          ...(script().offers ? { resources: { subscribe: true }, prompts: {}, completions: {} } : {}),
          ...(script().tasks ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {}),
        },
        serverInfo: { name: 'scripted', version: '1.0.0' },
      },
    });
  if (method === 'tools/list') {
    listing ??= script().listing;
    return send({ id, ...(listing ?? { result: { tools: script().tools } }) });
  }
  const { offers } = script();
  if (offers && LISTS[method]) return send({ id, result: { [LISTS[method]]: offers[LISTS[method]] ?? [] } });
  if (offers && /^(resources|prompts|completion)\//.test(method)) {
    appendFileSync(`${file}.reads`, `${JSON.stringify({ method, ...params })}\n`);
    return send({ id, result: { contents: [{ uri: params.uri, text: 'read' }] } });
  }
  if (method.startsWith('tasks/')) {
    appendFileSync(`${file}.tasks`, `${JSON.stringify({ method, ...params })}\n`);
    const { task } = script();
    if (task.exit !== undefined) process.exit(task.exit);
    if (task.error) return send({ id, error: task.error });
    if (method === 'tasks/result') return send({ id, result: task.result });
    return send({ id, result: { ...handle(params.taskId), ...task.shown } });
  }
  if (method !== 'tools/call') return send({ id, error: { code: -32601, message: 'Method not found' } });
  appendFileSync(`${file}.calls`, `${JSON.stringify(params)}\n`);
  const { answers = {} } = script();
  if (params.task) return send({ id, result: { task: handle('their-task') } });
  const own = Object.hasOwn(answers, params.name) ? answers[params.name] : undefined;
  const answer = own ?? { result: { content: [{ type: 'text', text: 'done' }] } };
  if (answer.stderr) process.stderr.write(`${answer.stderr}\n`);
  for (const progress of answer.progress ?? [])
    send({
      method: 'notifications/progress',
      params: { progressToken: params._meta?.progressToken, ...progress },
    });
  if (answer.changed) send({ method: 'notifications/tools/list_changed' });
  if (answer.flood) for (let n = 0; n < answer.flood; n += 1) process.stderr.write(`${'x'.repeat(1000)}\n`);
  if (answer.killParent) process.kill(process.ppid, 'SIGKILL');
  if (answer.exit !== undefined) process.exit(answer.exit);
  if (answer.env)
    return send({ id, result: { content: [{ type: 'text', text: process.env[answer.env] ?? '' }] } });
  if (answer.raw) return process.stdout.write(`${answer.raw.replace('ID', JSON.stringify(id))}\n`);
  if (answer.hang) return;
  if (answer.delay) return void setTimeout(() => send({ id, result: { content: [] } }), answer.delay);
  if (answer.error) return send({ id, error: answer.error });
  send({ id, result: answer.result ?? { content: [] } });
  if (answer.afterwards === 'killParent' || answer.afterwards === 'both')
    process.kill(process.ppid, 'SIGKILL');
  if (answer.afterwards === 'exit' || answer.afterwards === 'both') process.exit(1);
});
process.stdin.on('end', () => {
  if (!stubborn) process.exit(0);
});
