import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeBody, describeFacts } from '../../../terminal/presentation.ts';
import { ADA, CLAUDE, openWithProject } from '../test/support/kernel.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());

const asAda = { principal: ADA };

async function ask(tool: string, args: Record<string, string | number | boolean>): Promise<number> {
  const outcome = await world.call(tool, args);
  if (outcome.status !== 'routed') throw new Error(`${tool} was not asked: ${JSON.stringify(outcome)}`);
  return outcome.approvalId;
}

/** What the command line prints and the inbox shows. */
async function shown(id: number): Promise<string> {
  const approval = await world.kernel.approvals.get(id);
  if (!approval) throw new Error('gone');
  const presentation = await world.kernel.approvals.present(approval);
  return [presentation.title, describeFacts(presentation), describeBody(presentation.body)].join('\n');
}

describe('what a researcher sees before they decide', () => {
  it('names the code, its memo, how often it is used and examples when it is to be deleted', async () => {
    const { segment_count, name, memo } = await world.data<{
      segment_count: number;
      name: string;
      memo: string;
    }>('get_code', { code_id: 2 });
    const text = await shown(await ask('delete_code', { code_id: 2, delete_segments: true }));
    expect(text).toContain(`Delete code “${name}”`);
    expect(text).toContain(`${segment_count} segment`);
    expect(text).toContain('study-v14');
    expect(text).toContain(memo || 'No memo.');
    const segments = await world.data<{ code_id: number; selected_text: string }[]>(
      'list_segments_for_source',
      { source_id: 1 },
    );
    const segment = segments.find(({ code_id }) => code_id === 2);
    expect(text).toContain(segment?.selected_text.slice(0, 20));
    expect(text).not.toMatch(/code 2\b/i);
  });

  it('names the project also where the names of code and source are long', async () => {
    await world.data('create_code', { name: 'A code with a rather long name' });
    const code = (await world.data<{ id: number; name: string }[]>('list_codes')).find(({ name }) =>
      name.startsWith('A code'),
    );
    const place = { source_id: 1, start_pos: 0, end_pos: 11, code_id: code?.id ?? 0 };
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_code_application', place);
    const approval = await world.kernel.approvals.get(suggestion_id);
    const title = (await shown(approval?.id ?? 0)).split('\n')[0] ?? '';
    expect(title).toMatch(/^Apply “A code with a rather long name”(?! to…).* in study-v14/);
    expect(title.length).toBeLessThanOrEqual(70);
  });

  it('counts what a merge moves and what both codes have, and names an example of each', async () => {
    // 7 (Anxiety) and 8 (Anxious) are the same words by the same coder; Anxiety is on a picture too.
    const joined = await shown(await ask('merge_codes', { source_code_id: 5, target_code_id: 1 }));
    expect(joined).toContain('0 segments move');
    expect(joined).toContain('has 2 segments');
    expect(joined).toContain('1 segment with both codes kept once');
    const moved = await shown(await ask('merge_codes', { source_code_id: 1, target_code_id: 2 }));
    expect(moved).toContain('2 segments move');
    expect(moved).toContain('has 2 segments');
    const [row] = await world.kernel.approvals.list({ states: ['pending'], fresh: true, order: 'newest' });
    expect(row?.gist).toMatch(
      /^Anxiety: worry, fear; 2 segments, such as “I worry about money” in interview1\.txt; Coping: /,
    );
  });

  it('is computed again when it is shown, in lists and dialogs too', async () => {
    const id = await ask('merge_codes', { source_code_id: 5, target_code_id: 2 });
    expect(await shown(id)).toContain('Coping');
    // A dialog decides what can be undone and destroys nothing.
    const { uuid } = await world.kernel.approvals.propose({
      tool: 'update_code',
      args: { code_id: 2, name: 'Coping well' },
      requester: CLAUDE,
      reason: 'clearer',
    });
    await world.data('update_code', { code_id: 2, name: 'Managing' }, asAda);
    expect(await shown(id)).toContain('Managing');
    const rows = await world.kernel.approvals.list({ states: ['pending'], fresh: true });
    expect(rows.find((row) => row.id === id)?.summary).toContain('Managing');
    const asked = await world.call('approve_suggestion', { suggestion_id: uuid }, { consent: 'can-ask' });
    expect(asked).toMatchObject({ status: 'needs_person', question: expect.stringContaining('Managing') });
  });

  it('says when the call can no longer succeed', async () => {
    const id = await ask('merge_codes', { source_code_id: 5, target_code_id: 2 });
    await world.kernel.approvals.approve(
      await ask('delete_code', { code_id: 5, delete_segments: true }),
      ADA,
    );
    expect(await shown(id)).toContain('Code 5 not found');
  });

  it('shows a rename with the old and new name, and a removed coding in its passage', async () => {
    const segments = await world.data<{ id: number; selected_text: string; code_name: string }[]>(
      'list_segments_for_source',
      { source_id: 1 },
    );
    const [segment] = segments;
    const text = await shown(await ask('remove_coding', { segment_id: segment?.id ?? 0 }));
    expect(text).toContain(`Remove “${segment?.code_name}” from`);
    expect(text).toContain(`[${segment?.selected_text}]`);
    const rename = await world.kernel.approvals.propose({
      tool: 'update_code',
      args: { code_id: 2, name: 'Managing' },
      requester: CLAUDE,
      reason: 'clearer',
    });
    expect(await shown(rename.id)).toMatch(/Rename “Coping” to “Managing”[\s\S]*Coping +Managing/);
  });

  it('tells agents nothing of sources that are off limits', async () => {
    const before = await ask('delete_code', { code_id: 2, delete_segments: true });
    const { sources } = await world.data<{ sources: { id: number }[] }>('list_sources', {}, asAda);
    for (const { id: source_id } of sources)
      await world.data('set_source_access', { source_id, off_limits: true }, asAda);
    const [row] = await world.kernel.approvals.list({ states: ['pending'], fresh: true });
    expect(row?.id).toBe(before);
    expect(row?.summary).not.toMatch(/segment/);
    expect(row?.gist).toBe('no segments');
  });
});

describe('a refused decision', () => {
  it('names the inbox, and no command that an agent could run', async () => {
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_new_code', {
      name: 'Sleep',
      rationale: 'r',
    });
    const refusal = await world.call('reject_coding_suggestion', { suggestion_id }, { principal: CLAUDE });
    expect(refusal).toMatchObject({
      fault: { message: expect.stringContaining('A person decides in the Countersign inbox') },
    });
  });
});
