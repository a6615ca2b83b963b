import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { makeRepo } from '../../src/toolkits/dev/test/support/dev.ts';
import { openTerminal, type Ran, type Terminal } from './support.ts';

const SERVER = resolve('test/gateway/scripted-server.mjs');

let terminal: Terminal;
const at = (...names: string[]): string => join(terminal.home, ...names);

beforeAll(() => {
  terminal = openTerminal();
  const repo = makeRepo(at('clone'), { 'a.txt': 'one\n' });
  terminal.configure(
    `[dev.repos.clone]\npath = "${repo}"\n[mcp_policy]\nrequire_approval_for = ["x_post_tweet"]\n`,
  );
  writeFileSync(at('anna.txt'), 'I worry about work.\n');
  writeFileSync(at('cases.toml'), '[[cases]]\ntool = "get_mode"\nexpect = "allow"\n');
  writeFileSync(at('script.json'), '{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}');
  mkdirSync(at('place'));
});
afterAll(() => terminal.close());

/** What earlier steps answered, by the name of their command. */
const said = new Map<string, unknown>();
const from = (command: string, ...path: (string | number)[]): string =>
  String(path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], said.get(command)));

const soon = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
const later = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16);
const inClone = ['--repo', 'clone'];
const call = (tool: string, args: object): string[] => [tool, '--args', JSON.stringify(args)];
const change = (title: string, branch: string) => ({
  run_id: from('call', 'result', 'run_id'),
  base_branch: 'main',
  head_branch: branch,
  commit_message: title,
  pr_title: title,
  files: [{ path: `${branch}.txt`, modified_content: 'new\n' }],
});

/** One command with its arguments, and the exit code; each step may use what the ones before it left. */
type Step = [command: string, args?: () => readonly string[], code?: number];

const STORY: Step[] = [
  ['init', () => ['--yes']],
  ['completion', () => ['bash']],
  ['status'],
  ['doctor'],
  ['stats'],
  ['open', () => ['--no-browser']],
  ['mcp manifest'],
  ['agents add', () => ['robin']],
  ['agents list'],
  ['agents pause', () => ['robin']],
  ['agents resume', () => ['robin']],
  ['passkeys list'],
  ['passkeys reset', () => ['--yes'], 1],
  ['servers login', () => ['nowhere'], 1],
  ['policy explain', () => ['x_post_tweet']],
  ['policy test', () => [at('cases.toml')]],
  ['policy recommend'],
  ['x post', () => ['Queued']],
  ['approvals list'],
  ['approvals show', () => ['1']],
  ['approvals edit', () => ['1', '--args', '{"text":"Edited"}']],
  ['approvals approve', () => ['1']],
  ['x post', () => ['Rejected']],
  ['approvals reject', () => ['2', '--reason', 'no']],
  ['x post', () => ['Withdrawn']],
  ['approvals withdraw', () => ['3']],
  ['approvals permit', () => call('x_post_tweet', { text: 'Permitted' })],
  ['approvals settle', () => ['nothing', '--happened'], 1],
  ['approvals standing add', () => ['--agent', 'robin', '--tool', 'x_post_tweet', '--yes']],
  ['approvals standing list'],
  ['approvals standing revoke', () => [from('approvals standing add', 'id')]],
  ['review', () => [], 2],
  ['pause'],
  ['resume'],
  ['x reply', () => ['1', 'Hello', '--approve'], 1],
  ['x thread', () => ['One', 'Two', '--approve']],
  ['x schedule add', () => ['Tomorrow', '--at', soon, '--approve']],
  ['x schedule list'],
  ['x schedule move', () => [from('x schedule add', 'data', 'id'), '--at', later]],
  ['x schedule cancel', () => [from('x schedule add', 'data', 'id')]],
  ['x drafts add', () => ['A draft', '--approve']],
  ['x drafts list'],
  ['x drafts cancel', () => [from('x drafts add', 'data', 'id')]],
  ['x feed'],
  ['x mentions'],
  ['x score', () => ['1'], 1],
  ['x targets'],
  ['x stats'],
  ['x usage'],
  ['x sandbox status'],
  ['x sandbox reset'],
  ['x status'],
  ['x revoke', () => [], 1],
  ['x auth status'],
  ['x auth sign-out', () => [], 1],
  ['x auth', () => ['--scopes', 'nonsense'], 1],
  ['auth x status'],
  ['auth x sign-out', () => [], 1],
  ['auth x', () => ['--scopes', 'nonsense'], 1],
  ['sessions'],
  ['call', () => call('runs_create', { repo: 'clone', purpose: 'json' })],
  ['dev repos'],
  ['dev runs'],
  ['dev run', () => [from('call', 'result', 'run_id')]],
  ['approvals permit', () => call('code_branch_pr_create', change('One', 'one'))],
  ['approvals show', () => [from('approvals permit', 'uuid'), '--diff']],
  ['dev issues', () => inClone],
  ['dev issue show', () => ['1', ...inClone], 1],
  ['dev issue close', () => ['1', ...inClone, '--approve'], 1],
  ['dev prs', () => inClone],
  ['dev pr show', () => ['1', ...inClone], 1],
  ['dev pr diff', () => ['1', ...inClone], 1],
  ['dev pr review', () => ['1', ...inClone, '-m', 'Fine', '--approve'], 1],
  ['dev pr merge', () => ['1', ...inClone, '--approve'], 1],
  ['dev pr close', () => ['1', ...inClone, '--approve'], 1],
  ['dev reports'],
  ['dev report', () => ['nothing'], 1],
  ['research create', () => [at('study'), '--coder', 'Ada']],
  ['research status'],
  ['research import', () => [at('anna.txt')]],
  ['research sources'],
  ['research codebook'],
  ['research changes'],
  ['research agreement'],
  ['research frequencies'],
  ['research cooccurrence'],
  ['research matrix'],
  ['research off-limits add', () => ['anna.txt', '--approve']],
  ['research off-limits list'],
  ['research off-limits remove', () => ['anna.txt', '--approve']],
  ['research pseudonyms set', () => ['Anna', 'P1', '--approve']],
  ['research pseudonyms list'],
  ['research pseudonyms remove', () => ['Anna', '--approve']],
  ['research export', () => [at('study.qdpx')]],
  ['research audit-trail'],
  ['research audit-trail', () => [at('trail.json')]],
  ['research mcp-json', () => [at('place')]],
  ['research undo', () => ['--approve']],
  ['research close', () => ['--approve']],
  ['research open', () => [at('study.qda'), '--approve']],
  ['servers add', () => ['s', '--', process.execPath, SERVER, at('script.json')]],
  ['servers list'],
  ['servers show', () => ['s']],
  ['servers trust', () => ['s', '--yes']],
  ['servers logs', () => ['s']],
  ['servers restart', () => ['s']],
  ['servers remove', () => ['s']],
  ['servers import', () => ['--dry-run']],
  ['secrets set', () => ['not a name'], 2],
  ['secrets list'],
  ['secrets remove', () => ['nothing'], 1],
  ['audit verify'],
  ['audit prove', () => [from('dev run', 'calls', 0, 'callId'), '-o', at('proof.json')]],
  ['audit prove', () => [from('dev run', 'calls', 0, 'callId')]],
  ['audit story', () => [from('dev run', 'calls', 0, 'callId')]],
  ['audit receipt', () => ['1'], 1],
  ['audit check', () => [at('proof.json')]],
  ['audit export', () => ['--run', from('call', 'result', 'run_id'), '-o', at('bundle.json')]],
  ['audit erase', () => ['--before', '90d']],
  ['audit key'],
  ['audit checkpoint'],
  ['audit rotate-key'],
  ['agents revoke', () => ['robin']],
  ['backup', () => [at('copy')]],
  ['restore', () => [at('copy'), '--force']],
];

/** They serve until they are stopped; test/e2e/surface.test.ts reads what they print. */
const SERVING = ['up', 'mcp serve', 'mcp-server', 'wrap'];

/** Everything a person can run: commands without subcommands, and groups that act themselves. */
function commandsOf(group: Command, path: readonly string[] = []): string[] {
  const below = group.commands.filter((one) => one.name() !== 'help');
  const acts = below.length === 0 || ['auth x', 'x auth'].includes(path.join(' '));
  return [
    ...(acts ? [path.join(' ')] : []),
    ...below.flatMap((one) => commandsOf(one, [...path, one.name()])),
  ];
}

function expectJson({ out, err }: Ran): unknown {
  expect(err).not.toMatch(/^(Error|Usage):/m);
  expect(() => JSON.parse(out), out + err).not.toThrow();
  return JSON.parse(out) as unknown;
}

describe('with --json', () => {
  it.each(STORY.map((step, index) => [index + 1, step[0], step] as const))(
    'prints one JSON document and nothing else: %i %s',
    async (_index, command, [, args, code = 0]) => {
      const ran = await terminal.run('--json', ...command.split(' '), ...(args?.() ?? []));
      const printed = expectJson(ran);
      expect(ran.code, ran.out).toBe(code);
      said.set(command, printed);
    },
  );

  const all = commandsOf(createProgram());

  it('is tried on every command', () => {
    const tried = new Set([...STORY.map(([command]) => command), ...SERVING]);
    expect(all.filter((command) => !tried.has(command))).toEqual([]);
  });

  it.each(all)('prints a usage error as JSON: %s', async (command) => {
    const ran = await terminal.run(...command.split(' '), '--no-such-option', '--json');
    expect(ran.code).toBe(2);
    expect(ran.err).toBe('');
    expect(expectJson(ran)).toEqual({
      error: { message: expect.stringMatching(/unknown option '--no-such-option'|^required option/) },
    });
  });

  it.each([
    [['nonsense'], 2, { message: expect.stringContaining("unknown command 'nonsense'") }],
    [['audit'], 2, { message: expect.stringContaining('--help') }],
    [['approvals', 'show'], 2, { message: expect.stringContaining("missing required argument 'id'") }],
    [['approvals', 'show', '999'], 1, { message: 'Approval 999 not found.' }],
    [['approvals', 'reject', '999'], 1, { code: 'not_found', message: 'Approval 999 not found.' }],
    [['-c', '/nowhere/config.toml', 'status'], 1, { message: expect.stringContaining('/nowhere') }],
    [['up', '--port', 'abc'], 2, { message: expect.stringContaining('flag --port') }],
  ])('prints an error as JSON: %j', async (words, code, error) => {
    const ran = await terminal.run('--json', ...words);
    expect(ran.code).toBe(code);
    expect(expectJson(ran)).toMatchObject({ error });
  });

  it('prints the version as JSON, wherever the option stands', async () => {
    for (const words of [
      ['--version', '--json'],
      ['--json', '-V'],
      ['status', '--version', '--json'],
    ])
      expect(expectJson(await terminal.run(...words)), words.join(' ')).toEqual({
        version: expect.any(String),
      });
  });
});
