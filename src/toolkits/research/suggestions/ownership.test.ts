import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { ADA, CLAUDE, openWithProject } from '../test/support/kernel.ts';
import { INTERVIEW } from '../test/support/qualcoder.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
let other: string;
beforeEach(async () => {
  world = await openWithProject();
  other = join(world.dir, 'other.qda');
  cpSync(world.path, other, { recursive: true });
});
afterEach(() => world.close());

const asAda = { principal: ADA };
const open = (path: string) => world.data('open_project', { path }, asAda);
const pending = () => world.kernel.approvals.list({ states: ['pending'], order: 'oldest' });
const worry = INTERVIEW.indexOf('I worry');
const idea = { source_id: 1, code_id: 2, start_pos: worry, end_pos: worry + 19 };

describe('an approval while another project is open', () => {
  it('stays pending and names its project, on every way to approve it', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    await world.call('delete_code', { code_id: 2, delete_segments: true });
    await open(other);
    for (const { id, state } of await pending()) {
      expect(state).toBe('pending');
      const refusal = world.kernel.approvals.approve(id, ADA);
      await expect(refusal).rejects.toThrow(world.path);
    }
    expect(await world.fault('approve_coding_suggestion', { suggestion_id }, asAda)).toBe('conflict');
    expect((await pending()).map(({ tool }) => tool)).toEqual(['apply_code', 'delete_code']);
    expect(await world.data('get_code', { code_id: 2 })).toMatchObject({ id: 2 });
    await open(world.path);
    expect(await world.data('approve_coding_suggestion', { suggestion_id }, asAda)).toMatchObject({
      status: 'applied',
    });
  });

  it('opens the project first when the person says so', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    await open(other);
    const { approval, outcome } = await world.kernel.approvals.approve(suggestion_id, ADA, { prepare: true });
    expect(approval.state).toBe('done');
    expect(outcome).toMatchObject({ status: 'ok', data: { status: 'applied' } });
    expect(await world.data('get_project_context')).toMatchObject({ project_path: world.path });
    const calls = await world.kernel.telemetry.calls({ tool: 'open_project' });
    expect(calls[0]).toMatchObject({ principal: 'person:ada', status: 'ok' });
  });

  it('stays pending when no project is open, and when QualCoder has it open', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    await world.data('close_project', {}, asAda);
    await expect(world.kernel.approvals.approve(suggestion_id, ADA)).rejects.toThrow(world.path);
    expect(await pending()).toHaveLength(1);
  });
});

describe('a call that cannot work', () => {
  it('is refused instead of queued', async () => {
    const refused: [string, JsonObject, string][] = [
      ['delete_code', { code_id: 99 }, 'code_not_found'],
      ['delete_code', { code_id: 1 }, 'conflict'],
      ['merge_codes', { source_code_id: 99, target_code_id: 1 }, 'code_not_found'],
      ['merge_codes', { source_code_id: 1, target_code_id: 99 }, 'code_not_found'],
      ['merge_codes', { source_code_id: 1, target_code_id: 1 }, 'code_not_found'],
      ['remove_coding', { segment_id: 99 }, 'code_not_found'],
      ['suggest_merge_codes', { source_code_id: 1, target_code_id: 1, rationale: '' }, 'code_not_found'],
    ];
    for (const [tool, args, code] of refused) expect(await world.fault(tool, args)).toBe(code);
    await world.data('close_project', {}, asAda);
    expect(await world.fault('delete_code', { code_id: 1, delete_segments: true })).toBe('no_project');
    expect(await world.fault('merge_codes', { source_code_id: 1, target_code_id: 2 })).toBe('no_project');
    expect(await world.fault('remove_coding', { segment_id: 1 })).toBe('no_project');
    expect(await pending()).toHaveLength(0);
  });

  it('is refused instead of queued where every change requires approval', async () => {
    await world.close();
    world = await openWithProject({ asksForChanges: true });
    const range = { start_pos: 0, end_pos: 5 };
    const refused: [string, JsonObject, string][] = [
      ['update_code', { code_id: 99, memo: 'm' }, 'code_not_found'],
      ['update_coding', { segment_id: 99, memo: 'm' }, 'code_not_found'],
      ['update_memo', { target: 'code', id: 99, memo: 'm' }, 'code_not_found'],
      ['update_memo', { target: 'segment', id: 99, memo: 'm' }, 'code_not_found'],
      ['update_memo', { target: 'source', id: 99, memo: 'm' }, 'source_not_found'],
      ['update_memo', { target: 'case', id: 99, memo: 'm' }, 'not_found'],
      ['apply_code', { code_id: 1, source_id: 99, ...range }, 'source_not_found'],
      ['apply_code', { code_id: 99, source_id: 1, ...range }, 'code_not_found'],
      ['add_annotation', { source_id: 99, memo: 'm', ...range }, 'source_not_found'],
      ['add_annotation', { source_id: 1, memo: 'm', start_pos: 0, end_pos: 99_999 }, 'invalid_position'],
      ['update_source_metadata', { source_id: 99, language: 'en' }, 'source_not_found'],
      ['code_quote', { code_id: 1, quote: 'worry', source_id: 99 }, 'source_not_found'],
      ['code_quote', { code_id: 99, quote: 'I worry' }, 'code_not_found'],
      ['reanchor_segments', { source_id: 99 }, 'source_not_found'],
      ['auto_code_pattern', { pattern: 'x', code_id: 1, source_ids: [99] }, 'source_not_found'],
      ['auto_code_pattern', { pattern: 'x', code_id: 99 }, 'code_not_found'],
      ['auto_code_speaker', { source_id: 99, speaker: 'Ada' }, 'source_not_found'],
    ];
    const answers: [string, JsonObject, string][] = [];
    for (const [tool, args] of refused) {
      const outcome = await world.call(tool, args);
      answers.push([tool, args, 'fault' in outcome ? outcome.fault.code : outcome.status]);
    }
    expect(answers).toEqual(refused);
    expect(await pending()).toHaveLength(0);
    await world.data('close_project', {}, asAda);
    for (const [tool, args] of refused)
      expect([tool, await world.fault(tool, args)]).toEqual([tool, 'no_project']);
    expect(await pending()).toHaveLength(0);
  });

  it('is not queued twice while the same is pending in the same project', async () => {
    const ask = async () => {
      const outcome = await world.call('delete_code', { code_id: 2, delete_segments: true });
      return outcome.status === 'routed' ? outcome.approvalId : outcome.status;
    };
    const first = await ask();
    expect(first).toEqual(expect.any(Number));
    expect(await ask()).toBe(first);
    const rival = { principal: { ...CLAUDE, id: 'rival' } };
    expect(await world.call('delete_code', { code_id: 2, delete_segments: true }, rival)).not.toMatchObject({
      approvalId: first,
    });
    await open(other);
    expect(await ask()).not.toBe(first);
    await open(world.path);
    await world.kernel.approvals.reject(String(first), ADA);
    expect(await ask()).not.toBe(first);
  });
});

describe('a source ID', () => {
  it('that is unknown is SOURCE_NOT_FOUND in every tool that takes one', async () => {
    const { toolkit } = await import('../toolkit.ts');
    const more: Record<string, JsonObject> = {
      navigate_to_segment: { start_pos: 0, end_pos: 1 },
      suggest_source_metadata: { language: 'en' },
      update_source_metadata: { language: 'en' },
      suggest_code_application: { code_id: 1, start_pos: 0, end_pos: 1 },
      apply_code: { code_id: 1, start_pos: 0, end_pos: 1 },
      suggest_codes_for_range: { start_pos: 0, end_pos: 1 },
      auto_code_pattern: { pattern: 'x', code_id: 1 },
      set_source_access: { off_limits: true },
      add_annotation: { start_pos: 0, end_pos: 1, memo: 'm' },
      code_quote: { code_id: 1, quote: 'worry' },
      list_segments_for_code: { code_id: 1 },
      find_quote: { quote: 'worry' },
    };
    const taking = toolkit.tools.filter(({ input }) =>
      Object.hasOwn((input.json.properties ?? {}) as JsonObject, 'source_id'),
    );
    expect(taking.length).toBeGreaterThan(8);
    const answers: Record<string, string> = {};
    for (const { name } of taking)
      answers[name] = await world.fault(name, { source_id: 999, ...more[name] }, asAda);
    expect(answers).toEqual(Object.fromEntries(taking.map(({ name }) => [name, 'source_not_found'])));
    const within: [string, JsonObject][] = [
      ['search_segments', { any_of: [1], source_ids: [999] }],
      [
        'suggest_batch_coding',
        { code_id: 1, segments: [{ source_id: 999, start_pos: 0, end_pos: 1 }], rationale: '' },
      ],
    ];
    for (const [tool, args] of within) expect(await world.fault(tool, args), tool).toBe('source_not_found');
  });
});
