import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argsOfCall, RESEARCH_CALLS } from '../../../../test/support/calls/research.ts';
import { ENGINES, freshPostgres } from '../../../../test/support/engines.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { type Outcome, outcomeData } from '../../../contract/outcome.ts';
import { SqliteFile } from '../project/schema.ts';
import { toolkit } from '../toolkit.ts';
import { ADA, CLAUDE, openWithProject } from './support/kernel.ts';

/** Forms of two people's names; none may reach an agent. */
const NAMES = ['zebediah', 'quillfeather', 'müller', 'mueller', 'muller', 'özlem', 'oezlem'];
const TEXT = [
  'Interviewer: How do you sleep?',
  'Zebediah: Badly. I worry about money all the time, says Zebediahs sister.',
  'Interviewer: And who helps?',
  'Özlem: Frau Müller helps me. Write to zebediah.quillfeather@x.org or oezlem-mueller@x.org.',
  'Zebediah: QUILLFEATHER worries about Müllers rent and Quillfeathers money. Mullers too.',
  '',
].join('\n');

/** Only people decide; agents are refused with the command that a person can run. */
const isDecision = (tool: string): boolean => /^(?:approve|reject)_/.test(tool);

/** A project in which the names stand wherever a person can write. */
function plantNames(file: string): void {
  const db = new SqliteFile(file);
  const at = TEXT.indexOf('I worry');
  db.exec('BEGIN');
  db.run(
    'UPDATE source SET fulltext = ?, name = ?, memo = ? WHERE id = 1',
    TEXT,
    'Zebediah_Quillfeather.txt',
    'Zebediah at home',
  );
  db.run('UPDATE source SET fulltext = ?, name = ? WHERE id = 2', `Müller again. ${TEXT}`, 'müllers.pdf');
  db.exec("UPDATE project SET memo = 'About Zebediah'");
  db.exec("UPDATE code_cat SET name = 'Müllers ' || catid, memo = 'what Özlem feels'");
  db.exec("UPDATE code_name SET name = name || ' of Zebediah', memo = 'Quillfeathers worries'");
  db.exec("UPDATE cases SET name = 'Zebediah Quillfeather', memo = 'lives with Özlem Müller'");
  db.exec("UPDATE attribute SET value = 'Müller' WHERE name = 'Place'");
  db.exec("INSERT INTO attribute_type VALUES ('Knows Zebediah', '', 'ada', '', 'case', 'character')");
  db.exec("INSERT INTO attribute VALUES (90, 'Knows Zebediah', 'case', 'Özlem', 1, '', 'ada')");
  db.exec("UPDATE annotation SET memo = 'Zebediah asks'");
  db.exec("INSERT INTO journal VALUES (2, 'Zebediah today', 'Müller called', '', 'AI: other')");
  db.exec("UPDATE code_text SET memo = 'Zebediah says so', owner = 'quillfeather'");
  db.run(
    'UPDATE code_text SET seltext = ?, pos0 = ?, pos1 = ? WHERE cid <> 2',
    TEXT.slice(at, at + 50),
    at,
    at + 50,
  );
  db.exec("UPDATE code_text SET seltext = 'Zebediah was here once', pos0 = 2, pos1 = 24 WHERE cid = 2");
  db.exec('COMMIT');
  db.close();
}

describe.each(ENGINES)('every tool that agents are offered, with the database on %s', (engine) => {
  let world: Awaited<ReturnType<typeof openWithProject>>;
  const replies = new Map<string, JsonValue | undefined>();
  const seen: string[] = [];

  beforeAll(async () => {
    world = await openWithProject(engine === 'postgres' ? { url: await freshPostgres() } : {});
    plantNames(world.file);
    const asAda = { principal: ADA };
    await world.data('set_pseudonym', { original: 'Zebediah Quillfeather', pseudonym: 'Person 7' }, asAda);
    await world.data('set_pseudonym', { original: 'Özlem Müller', pseudonym: 'Person 8' }, asAda);
    // What people ask for is in the queue too, with names in it.
    await world.data('suggest_new_code', { name: 'Zebediahs debt', rationale: 'Müller owes him.' }, asAda);
  });
  afterAll(() => world.close());

  it('is in the table of calls', () => {
    const offered = toolkit.tools.filter(({ profiles }) => profiles.length > 0).map(({ name }) => name);
    expect([...new Set(RESEARCH_CALLS.map(([tool]) => tool))].sort()).toEqual([...offered].sort());
  });

  it('answers, and a person can approve what it asks for', async () => {
    const failed: string[] = [];
    for (const [tool, args] of RESEARCH_CALLS) {
      const outcome = await world.call(tool, argsOfCall(args, replies), { principal: CLAUDE });
      // A question is for the person in front of the client.
      if (outcome.status === 'needs_person') continue;
      seen.push(`${tool} ${JSON.stringify(outcomeData(outcome))}`);
      const settled = await decide(outcome);
      if (settled.status === 'ok') replies.set(tool, settled.data);
      else if (!isDecision(tool) || settled.status !== 'refused')
        failed.push(`${tool} ${JSON.stringify(outcomeData(settled))}`);
    }
    expect(failed).toEqual([]);
  });

  it('reveals no name that has a pseudonym', () => {
    const leaks = seen.filter((reply) => NAMES.some((name) => reply.toLowerCase().includes(name)));
    expect(leaks).toEqual([]);
    expect(seen.join(' ')).toContain('Person 7');
  });

  it('confirms no guess of one', async () => {
    const guesses = ['Zebediah', 'Müller'];
    const asked = (name: string): [string, JsonObject][] => [
      ['list_cases', { attributes: [{ name: `Knows ${name}`, value: 'Özlem' }] }],
      ['list_cases', { attributes: [{ name: 'Place', value: name }] }],
      ['search_segments', { any_of: [2], attributes: [{ name: 'Place', value: name }] }],
      ['compare_groups', { attribute: `Knows ${name}` }],
      ['find_quote', { quote: name }],
      ['find_similar_content', { search_text: name }],
      ['auto_code_pattern', { code_id: 2, pattern: name, match: 'contains', preview: true }],
      ['auto_code_speaker', { source_id: 1, speaker: name, preview: true }],
    ];
    for (const guess of guesses) {
      for (const [at, [tool, args]] of asked(guess).entries()) {
        const [, other = {}] = asked('Balthasar')[at] ?? [];
        const plain = async (given: JsonObject, name: string) =>
          JSON.stringify(outcomeData(await world.call(tool, given))).replaceAll(name, 'NAME');
        expect(await plain(args, guess), tool).toBe(await plain(other, 'Balthasar'));
      }
    }
  });

  /** The outcome, or that of the approved call. */
  async function decide(outcome: Outcome): Promise<Outcome> {
    if (outcome.status !== 'routed') return outcome;
    const approved = await world.kernel.approvals.approve(outcome.approvalUuid, ADA);
    return approved.outcome ?? outcome;
  }
});
