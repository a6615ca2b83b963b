import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freshSqlite } from '../../../../test/support/engines.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Approval } from '../../../contract/ports.ts';
import { openSqlite } from '../../../storage/sqlite.ts';
import type { ResearchTables } from '../tables.ts';
import { ADA, CLAUDE, openWithProject } from '../test/support/kernel.ts';
import { refuseHiddenNames } from './hidden-names.ts';
import { redactForAgent } from './redact-for-agent.ts';
import { PrivacyStore } from './rules.ts';

const NOW = '2026-01-01T00:00:00.000Z';

describe('the rules of privacy', () => {
  let dir: string;
  let opened: ReturnType<typeof openSqlite<ResearchTables>>;
  let privacy: PrivacyStore;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'countersign-rules-'));
    opened = openSqlite<ResearchTables>(freshSqlite(join(dir, 'store.db')));
    privacy = new PrivacyStore(opened.db, () => new Date(NOW));
  });
  afterEach(async () => {
    await opened.db.destroy();
    rmSync(dir, { recursive: true, force: true });
  });

  it('mark sources of one project, once and with who did it, until the mark is removed', async () => {
    await privacy.setOffLimits('p', 1, true, 'person:ada');
    await privacy.setOffLimits('p', 1, true, 'person:bea');
    await privacy.setOffLimits('p', 2, true, 'person:ada');
    await privacy.setOffLimits('q', 3, true, 'person:ada');
    expect(
      await opened.db.selectFrom('research_off_limits').selectAll().orderBy('source_id').execute(),
    ).toEqual([
      { project_id: 'p', source_id: 1, at: NOW, by: 'person:ada' },
      { project_id: 'p', source_id: 2, at: NOW, by: 'person:ada' },
      { project_id: 'q', source_id: 3, at: NOW, by: 'person:ada' },
    ]);
    expect((await privacy.rules('p')).offLimits).toEqual(new Set([1, 2]));
    await privacy.setOffLimits('p', 1, false, 'person:ada');
    expect((await privacy.rules('p')).offLimits).toEqual(new Set([2]));
    expect((await privacy.rules('q')).offLimits).toEqual(new Set([3]));
  });

  it('store names without the spaces around them, and replace what was stored for a name', async () => {
    const given = { original: ' Ada ', pseudonym: ' P1 ', variants: [' Adi ', ' '], exact: true };
    await privacy.setPseudonym('p', given, 'person:ada');
    expect((await privacy.rules('p')).names).toEqual([
      { original: 'Ada', pseudonym: 'P1', variants: ['Adi'], exact: true },
    ]);
    await privacy.setPseudonym('p', { original: 'Ada', pseudonym: 'P2' }, 'person:ada');
    await privacy.setPseudonym('q', { original: 'Ada', pseudonym: 'Q' }, 'person:ada');
    expect((await privacy.rules('p')).names).toEqual([
      { original: 'Ada', pseudonym: 'P2', variants: [], exact: false },
    ]);
    expect((await privacy.rules('p')).pseudonymiser.mask('Ada')).toBe('P2');
    expect((await privacy.rules('q')).pseudonymiser.mask('Ada')).toBe('Q');
  });

  it('take a name off the map with an empty pseudonym, and refuse an empty name', async () => {
    await privacy.setPseudonym('p', { original: 'Ada', pseudonym: 'P1' }, 'person:ada');
    await privacy.setPseudonym('p', { original: 'Ada', pseudonym: ' ' }, 'person:ada');
    expect((await privacy.rules('p')).names).toEqual([]);
    await expect(
      privacy.setPseudonym('p', { original: ' ', pseudonym: 'P' }, 'person:ada'),
    ).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('are made again only when they changed', async () => {
    await privacy.setPseudonym('p', { original: 'Ada', pseudonym: 'P1' }, 'person:ada');
    const rules = await privacy.rules('p');
    expect(await privacy.rules('p')).toBe(rules);
    await privacy.setOffLimits('p', 1, true, 'person:ada');
    expect(await privacy.rules('p')).not.toBe(rules);
  });
});

describe('words on an approval, for an agent', () => {
  let world: Awaited<ReturnType<typeof openWithProject>>;
  let approval: Approval;
  let project: string;
  beforeAll(async () => {
    world = await openWithProject();
    await world.data('set_pseudonym', { original: 'Ada', pseudonym: 'P1' }, { principal: ADA });
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_code_application', {
      source_id: 2,
      code_id: 1,
      start_pos: 0,
      end_pos: 6,
    });
    const found = await world.kernel.approvals.get(suggestion_id);
    if (!found) throw new Error('The suggestion is missing.');
    approval = { ...found, outcome: undefined };
    const { projects, privacy } = await world.services();
    project = (await projects.current()).id;
    await privacy.setOffLimits('another', 7, true, 'person:ada');
    await privacy.setPseudonym('another', { original: 'Zoe', pseudonym: 'Q1' }, 'person:ada');
  });
  afterAll(() => world.close());

  const redact = async (words: string, more: Partial<Approval> = {}) =>
    redactForAgent(words, { ...approval, ...more }, await world.services());
  const setOffLimits = async (off: boolean) =>
    (await world.services()).privacy.setOffLimits(project, 1, off, 'person:ada');
  const quoted = (name: string) => `Ada: near to a segment of ${name}, 0–6: “words”.`;

  it('have names replaced and lose their private part', async () => {
    expect(await redact('Ada and Zoe\n#####\nprivate')).toBe('P1 and Zoe');
    expect(await redact(quoted('interview1.txt'))).toContain('words');
  });

  it('lose their private part where no project is known', async () => {
    const of = { context: {}, createdAt: new Date('2000-01-01T00:00:00.000Z') };
    expect(await redact('Ada\n#####\nprivate', of)).toBe('Ada');
  });

  it('lose quotes of a source that is off limits, and names in what is left', async () => {
    await setOffLimits(true);
    expect(await redact(quoted('interview1.txt'))).toBe('P1: .');
    expect(await redact(quoted('scan.pdf'))).toContain('words');
    expect(await redact('Ada\n#####\nprivate')).toBe('P1');
    await setOffLimits(false);
  });

  it.each<[string, JsonObject, Approval['outcome']]>([
    ['in the request', { source_id: 1 }, undefined],
    ['in a list of the request', { segments: [{ source_id: 2 }, { source_id: 1 }] }, undefined],
    ['in the result', {}, { data: { added: [{ source_id: 1 }] } }],
  ])('are not available when they are about a source off limits: %s', async (_, args, outcome) => {
    const of = { args, outcome };
    expect(await redact('words', of)).toBe('words');
    await setOffLimits(true);
    expect(await redact('words', of)).toBe('The source is not available.');
    await setOffLimits(false);
  });

  it('are available when a number off limits stands for something else', async () => {
    await setOffLimits(true);
    expect(
      await redact('words', { args: { code_id: 1, source_id: null, list: [1], name: 'source_id' } }),
    ).toBe('words');
    await setOffLimits(false);
  });

  it('follow the rules of their own project, and quote nothing while another is open', async () => {
    const of = { context: { project: 'another' } };
    expect(await redact('Ada and Zoe', of)).toBe('Ada and Q1');
    expect(await redact(quoted('scan.pdf'), of)).toBe('Ada: .');
    // Where no source is off limits, there is nothing to hide.
    expect(await redact(quoted('scan.pdf'), { context: { project: 'third' } })).toContain('words');
  });

  it('quote nothing while no project is open', async () => {
    await setOffLimits(true);
    const { projects } = await world.services();
    await projects.close(ADA);
    expect(await redact(quoted('scan.pdf'), { context: { project } })).toBe('P1: .');
    await projects.open(world.path, ADA);
    expect(await redact(quoted('scan.pdf'), { context: { project } })).toContain('words');
    await setOffLimits(false);
  });

  it('may not name anyone with a pseudonym where an agent writes them', async () => {
    const services = await world.services();
    const refused = { code: 'validation_error' };
    await expect(refuseHiddenNames([undefined, 'idea'], services, CLAUDE)).resolves.toBeUndefined();
    await expect(refuseHiddenNames(['idea', 'of Ada'], services, CLAUDE)).rejects.toMatchObject(refused);
    await expect(refuseHiddenNames(['of Ada'], services, undefined)).rejects.toMatchObject(refused);
    await expect(refuseHiddenNames(['of Ada'], services, ADA)).resolves.toBeUndefined();
  });
});
