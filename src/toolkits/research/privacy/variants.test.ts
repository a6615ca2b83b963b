import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { SqliteFile } from '../project/schema.ts';
import { ADA, CLAUDE, openWithProject } from '../test/support/kernel.ts';
import { Pseudonymiser } from './pseudonyms.ts';

const asAda = { principal: ADA };

describe('forms of a name', () => {
  const names = new Pseudonymiser([
    { original: 'Anna Schmidt', pseudonym: 'P1' },
    { original: 'Müller', pseudonym: 'P2' },
    { original: 'Jan', pseudonym: 'P3' },
    { original: 'Karl Weber', pseudonym: 'P4' },
    { original: 'Eva Weber', pseudonym: 'P5', variants: ['Evi'] },
    { original: 'Rose', pseudonym: 'P6', exact: true },
  ]);

  it.each([
    ['Müllers Hof', 'P2 Hof'],
    ['die Müllerschen Felder', 'die P2 Felder'],
    ['MÜLLERS', 'P2'],
    ['Anna kam', 'P1 kam'],
    ['Frau Schmidt', 'Frau P1'],
    ['Annas Hund und Schmidts Katze', 'P1 Hund und P1 Katze'],
    ['Anna-Schmidt@x.org', 'P1@x.org'],
    ['anna.schmidt@x.org', 'P1@x.org'],
    ['aschmidt77@x.org', 'P1@x.org'],
    ['AnnaSchmidt', 'P1'],
    ['Interview_Anna_Schmidt.txt', 'Interview_P1.txt'],
    ['Schmidt, Anna', 'P1, P1'],
    ['Evi und Karl', 'P5 und P4'],
    ['Herr Weber', 'Herr [name]'],
    ['Jans Auto', 'P3 Auto'],
    ['Frau Mueller und MULLERS Hof', 'Frau P2 und P2 Hof'],
    ['h.mueller@x.org', 'P2@x.org'],
    ['InterviewAnnaSchmidt.docx', 'InterviewP1.docx'],
    ['interviewMüllerTeil2', 'interviewP2Teil2'],
    ['AnnaInterview, 2MuellerKurz', 'P1Interview, 2P2Kurz'],
    ['Sch\u00admidt und Schmi-\ndt', 'P1 und P1'],
  ])('masks “%s”', (text, shown) => {
    expect(names.mask(text)).toBe(shown);
  });

  it.each(['Jane', 'JaneDoe', 'ErJanusz', 'Hannah', 'Schmiede', 'Januar', 'Roses', 'Annahme', 'Mühle'])(
    'leaves “%s”, which is another word',
    (word) => {
      expect(names.mask(word)).toBe(word);
    },
  );

  it('cannot be searched for by those who see only pseudonyms', () => {
    expect(names.unmask('P1')).toBe('Anna Schmidt');
    for (const word of ['Schmidt', 'Anna', 'Müllers', 'Evi']) expect(names.unmask(word)).not.toContain(word);
    expect(names.hidden).toEqual(expect.arrayContaining(['Anna Schmidt', 'Schmidt', 'Anna', 'Evi']));
  });
});

describe('a researcher who sets a pseudonym', () => {
  let world: Awaited<ReturnType<typeof openWithProject>>;
  beforeEach(async () => {
    world = await openWithProject();
    const db = new SqliteFile(world.file);
    db.exec("UPDATE source SET fulltext = 'Rose said that Roses are red. Rose Tyler agreed.' WHERE id = 1");
    db.exec('DELETE FROM code_text WHERE fid = 1');
    db.close();
  });
  afterEach(() => world.close());

  it('is warned of the other forms that are replaced, with how often they occur', async () => {
    const { warnings } = await world.data<{ warnings: string[] }>(
      'set_pseudonym',
      { original: 'Rose Tyler', pseudonym: 'P1' },
      asAda,
    );
    expect(warnings).toEqual([expect.stringMatching(/“Rose”.* 2 places/)]);
    expect(await world.data('read_source_content', { source_id: 1 })).toMatchObject({
      content: 'P1 said that P1 are red. P1 agreed.',
    });
  });

  it('can limit it to the exact name and add forms', async () => {
    const set = { original: 'Rose Tyler', pseudonym: 'P1', exact: true, variants: ['red'] };
    await world.data('set_pseudonym', set, asAda);
    expect(await world.data('read_source_content', { source_id: 1 })).toMatchObject({
      content: 'Rose said that Roses are P1. P1 agreed.',
    });
  });

  it('has no agent try out names by making codes', async () => {
    await world.data('set_pseudonym', { original: 'Rose Tyler', pseudonym: 'P1' }, asAda);
    for (const name of ['Rose Tyler', 'roses', 'What Tyler says']) {
      expect(await world.fault('create_code', { name })).toBe('validation_error');
      expect(await world.fault('suggest_new_code', { name, rationale: 'r' })).toBe('validation_error');
      expect(await world.fault('update_code', { code_id: 1, name })).toBe('validation_error');
    }
    const outcome = await world.call('create_code', { name: 'Tyler' });
    expect(JSON.stringify(outcome)).not.toContain('P1');
    expect(await world.data('create_code', { name: 'Tyler' }, asAda)).toMatchObject({ name: 'Tyler' });
  });
});

describe('what was stored before a source was put off limits', () => {
  it('no longer quotes it to agents', async () => {
    const world = await openWithProject();
    try {
      const quote = 'I worry about money';
      const rationale = `“money” is in 2 segments with this code in 2 sources; near to a segment of interview1.txt, 56–75: “${quote}”; near to a segment of scan.pdf, 0–6: “A page”.`;
      const place = { code_id: 1, start_pos: 0, end_pos: 6, confidence: 60 };
      const file = (source_id: number) =>
        world.data<{ suggestion_id: string }>('suggest_code_application', { ...place, source_id, rationale });
      const other = await file(2);
      const own = await file(1);
      const listed = async () => JSON.stringify(await world.data('list_pending_coding_suggestions'));
      expect(await listed()).toContain(quote);
      await world.data('set_source_access', { source_id: 1, off_limits: true }, asAda);
      expect(await listed()).not.toContain(quote);
      expect(await listed()).toContain('A page');
      for (const { suggestion_id } of [other, own]) {
        const approval = await world.kernel.approvals.get(suggestion_id);
        if (!approval) throw new Error('gone');
        const { summary, gist, reason } = await world.kernel.approvals.tell(approval, CLAUDE);
        const told = JSON.stringify([summary, gist, reason]);
        expect(told).not.toContain('Intervi');
        expect(told).not.toContain(quote);
      }
    } finally {
      await world.close();
    }
  });
});

describe('a source off limits', () => {
  let world: Awaited<ReturnType<typeof openWithProject>>;
  beforeEach(async () => {
    world = await openWithProject();
    await world.data('set_source_access', { source_id: 1, off_limits: true }, asAda);
  });
  afterEach(() => world.close());

  it('does not exist for agents, in counts and collisions of names too', async () => {
    for (const tool of ['get_project_context', 'list_sources']) {
      const data = await world.data<JsonObject>(tool);
      expect(Object.keys(data).filter((name) => name.includes('withheld'))).toEqual([]);
      expect(JSON.stringify(data)).not.toContain('interview1.txt');
    }
    const added = await world.data<{ source_id: number }>('add_source', {
      name: 'interview1.txt',
      content: 'New.',
    });
    expect(added).toMatchObject({ name: 'interview1.txt' });
    const { sources } = await world.data<{ sources: { id: number; name: string }[] }>('list_sources');
    expect(sources.find(({ id }) => id === added.source_id)?.name).toBe('interview1.txt');
    expect(await world.fault('add_source', { name: 'interview1.txt', content: 'New.' })).toBe('conflict');
  });

  it('is not counted in what an agent sees of a merge', async () => {
    const asked = await world.call('merge_codes', { source_code_id: 2, target_code_id: 1 });
    if (asked.status !== 'routed') throw new Error('not asked');
    const { segment_count } = await world.data<{ segment_count: number }>('get_code', { code_id: 2 });
    const { outcome } = await world.kernel.approvals.approve(asked.approvalUuid, ADA);
    expect(outcome).toMatchObject({ data: { segments_moved: segment_count, duplicates_joined: 0 } });
  });

  it('is not counted in what an agent sees of a change', async () => {
    const { segment_count } = await world.data<{ segment_count: number }>('get_code', { code_id: 2 });
    const asked = await world.call('delete_code', { code_id: 2, delete_segments: true });
    if (asked.status !== 'routed') throw new Error('not asked');
    const { outcome } = await world.kernel.approvals.approve(asked.approvalUuid, ADA);
    expect(outcome).toMatchObject({ data: { segments_removed: segment_count } });
  });
});
