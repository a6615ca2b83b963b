import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';

/** The tables of QualCoder's version 8 (release 3.2), from which every later version grows by the steps below. */
const VERSION_8 = [
  'project (databaseversion text, date text, memo text,about text, bookmarkfile integer, bookmarkpos integer, codername text)',
  'source (id integer primary key, name text, fulltext text, mediapath text, memo text, owner text, date text, av_text_id integer, risid integer, unique(name))',
  'code_image (imid integer primary key,id integer,x1 integer, y1 integer, width integer, height integer, cid integer, memo text, date text, owner text, important integer)',
  'code_av (avid integer primary key,id integer,pos0 integer, pos1 integer, cid integer, memo text, date text, owner text, important integer)',
  'annotation (anid integer primary key, fid integer,pos0 integer, pos1 integer, memo text, owner text, date text, unique(fid,pos0,pos1,owner))',
  'attribute_type (name text primary key, date text, owner text, memo text, caseOrFile text, valuetype text)',
  'attribute (attrid integer primary key, name text, attr_type text, value text, id integer, date text, owner text, unique(name,attr_type,id))',
  'case_text (id integer primary key, caseid integer, fid integer, pos0 integer, pos1 integer, owner text, date text, memo text)',
  'cases (caseid integer primary key, name text, memo text, owner text,date text, constraint ucm unique(name))',
  'code_cat (catid integer primary key, name text, owner text, date text, memo text, supercatid integer, unique(name))',
  'code_text (ctid integer primary key, cid integer, fid integer,seltext text, pos0 integer, pos1 integer, owner text, date text, memo text, avid integer, important integer, unique(cid,fid,pos0,pos1, owner))',
  'code_name (cid integer primary key, name text, memo text, catid integer, owner text,date text, color text, unique(name))',
  'journal (jid integer primary key, name text, jentry text, date text, owner text, unique(name))',
  'stored_sql (title text, description text, grouper text, ssql text, unique(title))',
  'graph (grid integer primary key, name text, description text, date text, scene_width integer, scene_height integer, unique(name))',
  'gr_cdct_text_item (gtextid integer primary key, grid integer, x integer, y integer, supercatid integer, catid integer, cid integer, font_size integer, bold integer, isvisible integer, displaytext text)',
  'gr_pix_item (grpixid integer primary key, grid integer, imid integer,x integer, y integer, px integer, py integer, w integer, h integer, filepath text,tooltip text)',
  'gr_cdct_line_item (glineid integer primary key, grid integer, fromcatid integer, fromcid integer, tocatid integer, tocid integer, color text, linewidth real, linetype text, isvisible integer)',
  'ris (risid integer, tag text, longtag text, value text)',
];

const STEPS: readonly (readonly [version: number, ...sql: string[]])[] = [
  [9, 'ALTER TABLE project ADD recently_used_codes text'],
  [10, 'ALTER TABLE code_image ADD pdf_page integer'],
  [11, 'ALTER TABLE gr_pix_item ADD pdf_page integer'],
  [
    12,
    'CREATE TABLE manage_files_display (mfid integer primary key, name text, tblrows text, tblcolumns text, owner text)',
  ],
  [13, 'CREATE TABLE files_filter (filterid integer primary key, name text, filter text, owner text)'],
  [
    14,
    'CREATE TABLE coder_names (name TEXT UNIQUE NOT NULL, visibility INTEGER NOT NULL DEFAULT 1 CHECK (visibility IN (0, 1)))',
    'CREATE VIEW code_text_visible AS SELECT t.* FROM code_text t WHERE NOT EXISTS (SELECT 1 FROM coder_names c WHERE c.name = t.owner AND c.visibility = 0)',
  ],
  [
    15,
    'ALTER TABLE project ADD avbookmarkfile integer',
    'ALTER TABLE project ADD avbookmarkmsec integer',
    'ALTER TABLE project ADD avbookmarktextpos integer',
  ],
  [16, 'ALTER TABLE code_name ADD supercid integer'],
  [17, 'CREATE TABLE gr_memo_item (gmemoid integer primary key, grid integer, memo text)'],
];

export interface QualCoderFixture {
  readonly path: string;
  readonly file: string;
}

/** A project as QualCoder's own statements make it, with something in every kind of table. */
export function makeQualCoderProject(
  dir: string,
  version: number,
  name = `study-v${version}`,
): QualCoderFixture {
  const path = join(dir, `${name}.qda`);
  for (const folder of ['documents', 'images', 'audio', 'video'])
    mkdirSync(join(path, folder), { recursive: true });
  const file = join(path, 'data.qda');
  const db = new Database(file);
  db.exec('BEGIN');
  for (const table of VERSION_8) db.exec(`CREATE TABLE ${table}`);
  db.prepare(
    'INSERT INTO project (databaseversion, date, memo, about, bookmarkfile, bookmarkpos, codername) VALUES (?,?,?,?,?,?,?)',
  ).run(
    `v${version}`,
    `2024-03-0${(version % 9) + 1} 10:00:00`,
    'What we ask.\n#####\nmy own doubts',
    'QualCoder 3.6',
    1,
    7,
    'ada',
  );
  for (const [step, ...statements] of STEPS) {
    if (step <= version) for (const sql of statements) db.exec(sql);
  }
  fill(db, version);
  db.exec('COMMIT');
  db.close();
  return { path, file };
}

export const INTERVIEW =
  'Interviewer: How do you sleep?\nAda: Badly. I worry about money all the time.\nInterviewer: And who helps?\nAda: My sister helps me.\n';

function fill(db: InstanceType<typeof Database>, version: number): void {
  const date = '2024-03-05 11:12:13';
  const source = db.prepare(
    'INSERT INTO source (id, name, fulltext, mediapath, memo, owner, date, av_text_id, risid) VALUES (?,?,?,?,?,?,?,?,?)',
  );
  source.run(
    1,
    'interview1.txt',
    INTERVIEW,
    '/docs/interview1.txt',
    'first talk\n#####\nreal name inside',
    'ada',
    date,
    null,
    1,
  );
  source.run(2, 'scan.pdf', 'A page of text.', 'docs:/home/ada/scan.pdf', null, 'ada', date, null, null);
  source.run(3, 'photo.jpg', null, '/images/photo.jpg', '', 'ada', date, null, null);
  source.run(4, 'talk.mp3', null, 'audio:/home/ada/talk.mp3', '', 'bob', date, 1, null);
  db.exec(
    `INSERT INTO code_cat VALUES (1, 'Feelings', 'ada', '${date}', '', NULL), (2, 'Bad ones', 'ada', '${date}', 'sub', 1)`,
  );
  db.exec(
    `INSERT INTO code_name (cid, name, memo, catid, owner, date, color) VALUES
     (1, 'Anxiety', 'worry, fear', 2, 'ada', '${date}', '#FF6B6B'), (2, 'Coping', NULL, NULL, 'ada', '${date}', '#4ECDC4'),
     (5, 'Anxious', 'being anxious\n#####\nprivate', 2, 'bob', '${date}', '#ff0000')`,
  );
  const coding = db.prepare(
    'INSERT INTO code_text (ctid, cid, fid, seltext, pos0, pos1, owner, date, memo, avid, important) VALUES (?,?,?,?,?,?,?,?,?,?,?)',
  );
  const at = INTERVIEW.indexOf('I worry');
  coding.run(7, 1, 1, 'I worry about money', at, at + 19, 'ada', date, 'clear', null, 1);
  coding.run(8, 5, 1, 'I worry about money', at, at + 19, 'ada', date, 'also', null, null);
  const two = INTERVIEW.indexOf('My sister');
  coding.run(9, 2, 1, 'My sister helps me.', two, two + 19, 'bob', date, null, null, null);
  db.exec(
    `INSERT INTO code_image (imid, id, x1, y1, width, height, cid, memo, date, owner) VALUES (1, 3, 10.5, 20, 30, 40, 1, '', '${date}', 'ada')`,
  );
  db.exec(`INSERT INTO code_av VALUES (1, 4, 1000, 2500, 2, '', '${date}', 'bob', NULL)`);
  db.exec(`INSERT INTO annotation VALUES (1, 1, 0, 11, 'who asks', 'ada', '${date}')`);
  db.exec(
    `INSERT INTO attribute_type VALUES ('Age', '${date}', 'ada', '', 'case', 'numeric'), ('Place', '${date}', 'ada', '', 'file', 'character')`,
  );
  db.exec(
    `INSERT INTO attribute VALUES (1, 'Age', 'case', '34', 1, '${date}', 'ada'), (2, 'Place', 'file', 'Oslo', 1, '${date}', 'ada'), (3, 'Place', 'file', '', 2, '${date}', 'ada'), (4, 'Place', 'file', '', 3, '${date}', 'ada'), (5, 'Place', 'file', '', 4, '${date}', 'ada')`,
  );
  db.exec(`INSERT INTO cases VALUES (1, 'Participant A', 'a case', 'ada', '${date}')`);
  db.exec(`INSERT INTO case_text VALUES (1, 1, 1, 0, ${INTERVIEW.length}, 'ada', '${date}', '')`);
  db.exec(`INSERT INTO journal VALUES (1, 'Diary', 'today', '${date}', 'ada')`);
  db.exec(`INSERT INTO stored_sql VALUES ('q', 'd', '', 'select 1')`);
  db.exec(`INSERT INTO graph VALUES (1, 'map', '', '${date}', 100, 100)`);
  db.exec(`INSERT INTO gr_cdct_text_item VALUES (1, 1, 5, 5, NULL, NULL, 1, 9, 0, 1, 'Anxiety')`);
  db.exec(`INSERT INTO ris VALUES (1, 'TI', 'Title', 'A talk')`);
  if (version >= 14) db.exec(`INSERT INTO coder_names VALUES ('ada', 1), ('bob', 1)`);
  // What we do not know must stay as it is, no matter what is in it.
  db.exec('CREATE TABLE someone_elses (a, b blob, c text)');
  db.prepare('INSERT INTO someone_elses VALUES (?, ?, ?)').run(
    1.5,
    Buffer.from([0, 255, 1]),
    'with\u0000zero',
  );
}

/** Every table, every row, every column with its type and bytes, for exact comparison. */
export function dumpDatabase(file: string): Record<string, string[]> {
  const db = new Database(file);
  try {
    const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all() as {
      name: string;
    }[];
    const dump: Record<string, string[]> = {};
    for (const { name } of names) {
      const columns = (
        db.prepare('SELECT name FROM pragma_table_info(?)').all(name) as { name: string }[]
      ).map((c) => c.name);
      const parts = columns
        .map((c) => `typeof("${c}") || ':' || hex(CAST("${c}" AS BLOB))`)
        .join(` || '|' || `);
      const rows = db.prepare(`SELECT ${parts} AS line FROM "${name}"`).all() as { line: string }[];
      dump[name] = rows.map((row) => row.line).sort();
    }
    dump.sqlite_master = (
      db.prepare('SELECT sql FROM sqlite_master ORDER BY name').all() as { sql: string }[]
    ).map((r) => String(r.sql));
    return dump;
  } finally {
    db.close();
  }
}
