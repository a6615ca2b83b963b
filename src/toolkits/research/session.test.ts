import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import type { Settlement } from '../../contract/outcome.ts';
import { ADA, openWithProject } from './test/support/kernel.ts';
import { toolkit } from './toolkit.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());

const reconcile = async (tool: string, args: JsonObject, callId: string): Promise<Settlement | undefined> => {
  const found = toolkit.tools.find(({ name }) => name === tool);
  const parsed = found?.input.parse(args);
  if (!parsed?.ok) throw new Error('bad arguments');
  const context = {
    services: await world.services(),
    callId,
    startedAt: new Date(),
    signal: new AbortController().signal,
  };
  return found?.reconcile?.(parsed.value as JsonObject, context);
};

/** Every file of the project with its bytes. */
const projectFiles = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(world.path, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(world.path, name)).isFile())
      .map((name) => [name, readFileSync(join(world.path, name), 'base64')]),
  );

const CALLS: readonly (readonly [string, JsonObject])[] = [
  ['create_code', { name: 'Hope', color: '#123456' }],
  ['update_code', { code_id: 1, name: 'Fear' }],
  [
    'batch_apply_codes',
    {
      operations: [
        { code_id: 1, source_id: 1, start_position: 0, end_position: 5 },
        { code_id: 99, source_id: 1, start_position: 0, end_position: 5 },
      ],
    },
  ],
  ['apply_code', { code_id: 1, source_id: 1, start_pos: 2, end_pos: 9 }],
  ['delete_code', { code_id: 1, delete_segments: true }],
  ['merge_codes', { source_code_id: 5, target_code_id: 2 }],
  ['remove_coding', { segment_id: 7 }],
  ['add_source', { name: 'n', content: 'text' }],
  ['update_source_metadata', { source_id: 1, language: 'en' }],
  ['auto_code_pattern', { code_id: 1, pattern: 'Ada' }],
  ['auto_code_speaker', { source_id: 1 }],
];

describe('after a crash', () => {
  it.each(CALLS)('%s is settled by looking at the project, which stays as it is', async (tool, args) => {
    expect(await reconcile(tool, args, 'never-ran')).toEqual({ settled: 'not_done' });
    const outcome = await world.call(tool, args, { principal: ADA });
    const ran =
      outcome.status === 'routed'
        ? (await world.kernel.approvals.approve(outcome.approvalUuid, ADA)).outcome
        : outcome;
    expect(ran).toMatchObject({ status: 'ok' });
    const { store } = await (await world.services()).projects.current();
    const [change] = await store.journal.recent(1);
    // As a killed process leaves it: noted, and never confirmed.
    await store.journal.settle(change?.id ?? 0, 'prepared');
    const before = projectFiles();
    expect([...before.keys()]).toContain('data.qda');
    const settled = await reconcile(tool, args, change?.callId ?? '');
    expect(projectFiles()).toEqual(before);
    expect(settled).toMatchObject({ settled: 'done', data: expect.any(Object) });
    if (tool === 'create_code' || tool === 'batch_apply_codes' || tool === 'add_source') {
      if (settled?.settled !== 'done' || ran?.status !== 'ok') throw new Error('not settled');
      expect(Object.keys(settled.data as JsonObject).sort()).toEqual(
        Object.keys(ran.data as JsonObject).sort(),
      );
    }
  });
});

describe('the coder name of an agent', () => {
  it.each([
    [{ kind: 'agent', id: 'local', label: 'claude-code/1.0.64' }, 'AI: claude-code'],
    [{ kind: 'agent', id: 'local', label: 'Claude Desktop/v0.9' }, 'AI: Claude Desktop'],
    [{ kind: 'agent', id: 'reviewer', label: 'claude-code/2.1.0' }, 'AI: reviewer'],
    [{ kind: 'agent', id: 'reviewer', label: 'curl/8.5.0' }, 'AI: reviewer'],
    [{ kind: 'agent', id: 'reviewer' }, 'AI: reviewer'],
  ] as const)('is the same for every version and transport: %o', async (principal, owner) => {
    const { code_id } = await world.data<{ code_id: number }>('create_code', { name: 'N' }, { principal });
    expect(await world.data('get_code', { code_id })).toMatchObject({ owner });
  });
});
