import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADA, openWithProject } from '../test/support/kernel.ts';
import { dumpDatabase } from '../test/support/qualcoder.ts';
import { textOfHtml } from './taguette/text-of-html.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());
const asAda = { principal: ADA };

const HTML = '<p>Café &amp; tea 😀</p>\n<p>We <b>never</b> talked.</p><p>Then it rained.</p>';
const TEXT = 'Café & tea 😀\nWe never talked.\nThen it rained.';
const bytesOf = (words: string) => {
  // Taguette does not count the line break that we put between the last two paragraphs.
  const plain = TEXT.replace('talked.\n', 'talked.');
  const start = Buffer.byteLength(plain.slice(0, plain.indexOf(words)));
  return [start, start + Buffer.byteLength(words)] as const;
};

function makeTaguette(name = 'study.sqlite3'): string {
  const path = join(world.dir, name);
  const db = new Database(path);
  db.exec(`
    CREATE TABLE projects (id INTEGER PRIMARY KEY, name TEXT, description TEXT);
    CREATE TABLE documents (id INTEGER PRIMARY KEY, name TEXT, description TEXT, contents TEXT);
    CREATE TABLE tags (id INTEGER PRIMARY KEY, path TEXT, description TEXT);
    CREATE TABLE highlights (id INTEGER PRIMARY KEY, document_id INTEGER, start_offset INTEGER, end_offset INTEGER, snippet TEXT);
    CREATE TABLE highlight_tags (highlight_id INTEGER, tag_id INTEGER);
    INSERT INTO tags VALUES (1, 'Silence', 'Nobody speaks.'), (2, 'Anxiety', ''), (3, 'Weather', '');
    INSERT INTO highlight_tags VALUES (1, 1), (1, 2), (2, 3);
  `);
  db.prepare("INSERT INTO documents VALUES (5, 'talk.odt', 'second visit', ?)").run(HTML);
  const add = db.prepare("INSERT INTO highlights VALUES (?, 5, ?, ?, '')");
  add.run(1, ...bytesOf('never talked.'));
  add.run(2, ...bytesOf('it rained'));
  add.run(3, ...bytesOf('tea'));
  db.close();
  return path;
}

describe('importing a Taguette project', () => {
  it('adds documents, tags and highlights at their places, in one change that can be undone', async () => {
    const before = dumpDatabase(world.file);
    const found = await world.data<{ sources: { id: number }[]; notes: object[] }>(
      'import_files',
      { paths: [makeTaguette()] },
      asAda,
    );
    // The project has a code "Anxiety" already.
    expect(found).toMatchObject({
      source_count: 1,
      code_count: 2,
      coding_count: 3,
      sources: [{ name: 'talk.odt' }],
    });
    const codes = await world.data<{ name: string; color: string }[]>('list_codes');
    const colours = codes
      .filter(({ name }) => name === 'Silence' || name === 'Weather')
      .map(({ color }) => color);
    expect(new Set([...colours, '#808080']).size).toBe(3);
    expect(found.notes).toEqual([
      expect.objectContaining({ kind: 'repaired', where: ['Anxiety'] }),
      expect.objectContaining({ kind: 'lost', what: 'Left out a highlight without a tag', count: 1 }),
    ]);
    const source_id = found.sources[0]?.id ?? 0;
    expect(await world.data('read_source_content', { source_id })).toMatchObject({ content: TEXT });
    const segments = await world.data<{ code_name: string; selected_text: string }[]>(
      'list_segments_for_source',
      { source_id },
    );
    expect(segments.map(({ code_name, selected_text }) => [code_name, selected_text]).sort()).toEqual([
      ['Anxiety', 'never talked.'],
      ['Silence', 'never talked.'],
      ['Weather', 'it rained'],
    ]);
    await world.data('undo_change', {}, asAda);
    expect(dumpDatabase(world.file)).toEqual(before);
  });

  it('refuses a database of another program and a file that is no database, and changes nothing', async () => {
    const before = dumpDatabase(world.file);
    const other = join(world.dir, 'other.sqlite3');
    new Database(other).exec('CREATE TABLE things (id INTEGER)');
    const noise = join(world.dir, 'noise.sqlite3');
    writeFileSync(noise, 'These are not the pages of a database.'.repeat(50));
    for (const path of [other, noise]) {
      expect(await world.fault('import_files', { paths: [path] }, asAda)).toBe('validation_error');
    }
    expect(dumpDatabase(world.file)).toEqual(before);
  });

  it('comes alone', async () => {
    const paths = [makeTaguette(), makeTaguette('again.sqlite3')];
    expect(await world.fault('import_files', { paths }, asAda)).toBe('validation_error');
  });
});

describe('the text of a Taguette document', () => {
  it('decodes entities and counts positions in bytes of the text nodes', () => {
    const { text, fromBytes } = textOfHtml('<p>a&lt;b &#233;&#x1F600; c</p>');
    expect(text).toBe('a<b é😀 c');
    expect(text.slice(fromBytes(Buffer.byteLength('a<b é😀 ')))).toBe('c');
  });

  it('puts a line break between blocks that touch, and none where one is', () => {
    const { text, fromBytes } = textOfHtml('<h1>One</h1><p>Two</p>\n<p>Three<br>Four</p>');
    expect(text).toBe('One\nTwo\nThree\nFour');
    expect([3, 7].map((at) => text.slice(fromBytes(at), fromBytes(at) + 3))).toEqual(['Two', 'Thr']);
  });
});
