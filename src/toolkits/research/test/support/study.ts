import Database from 'libsql';
import { INTERVIEW, makeQualCoderProject, type QualCoderFixture } from './qualcoder.ts';

/** The lengths and counts the API document shows in its examples. */
export const STUDY = {
  textLength: 15_000,
  sources: 5,
  cases: 3,
  codes: 15,
  anxiety: 12,
  coping: 8,
  anxious: 3,
};

const FOLLOW_UP =
  'Interviewer: What is it like now?\nAda: I am anxious every night, I worry and I fear the waiting list.\nInterviewer: What do you do then?\nAda: I call my sister. Coping means asking somebody for help.\n';
const TURNS = [
  'Interviewer: And at work?\nAda: The office moved to another town, so I take two trains.\n',
  'Interviewer: Who decides?\nAda: The council decides, and the waiting list only grows.\n',
  'Interviewer: What would you change?\nAda: Shorter forms, and a person who answers the telephone.\n',
];
const OTHER_CODES = [
  [3, 'Support'],
  [4, 'Waiting time'],
  [6, 'Housing'],
  [7, 'Travel to work'],
  [8, 'Bureaucracy'],
  [9, 'Childhood'],
  [10, 'Neighbours'],
  [11, 'Language course'],
  [12, 'Religion'],
  [13, 'Food'],
  [14, 'School'],
  [15, 'Future plans'],
] as const;

/** Text of the source the examples name: an interview of exactly the documented length. */
export const STUDY_TEXT = longInterview();
export const NOTES =
  'I was so worried about money that I could not sleep.\nMy sister helps me with everything.\nThe waiting list frightens me.\nNobody on the waiting list is told anything.\n';

/** "My Research" as the API document describes it, made with QualCoder's own statements. */
export function makeStudy(dir: string): QualCoderFixture {
  const made = makeQualCoderProject(dir, 14, 'My Research');
  const db = new Database(made.file);
  const date = '2024-03-06 09:00:00';
  db.exec('BEGIN');
  db.prepare('UPDATE source SET fulltext = ? WHERE id = 1').run(STUDY_TEXT);
  db.prepare(
    'INSERT INTO source (id, name, fulltext, mediapath, memo, owner, date) VALUES (5, ?, ?, NULL, ?, ?, ?)',
  ).run('notes.txt', NOTES, '', 'ada', date);
  db.exec(
    `INSERT INTO cases VALUES (2, 'Participant B', '', 'ada', '${date}'), (3, 'Participant C', '', 'ada', '${date}')`,
  );
  const code = db.prepare(
    'INSERT INTO code_name (cid, name, memo, owner, date, color) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (const [id, name] of OTHER_CODES) code.run(id, name, '', 'ada', date, '#123456');
  const coding = db.prepare(
    'INSERT INTO code_text (cid, fid, seltext, pos0, pos1, owner, date, memo) VALUES (?, 1, ?, ?, ?, ?, ?, ?)',
  );
  // Two of the fixture's codings of Anxiety and of Coping and one of Anxious are there already.
  for (const [id, missing] of [
    [1, STUDY.anxiety - 2],
    [2, STUDY.coping - 2],
    [5, STUDY.anxious - 1],
  ] as const) {
    for (let at = 0; at < missing; at += 1) {
      const start = 1000 + id * 1000 + at * 40;
      coding.run(id, STUDY_TEXT.slice(start, start + 30), start, start + 30, 'ada', date, '');
    }
  }
  db.exec('COMMIT');
  db.close();
  return made;
}

function longInterview(): string {
  let text = INTERVIEW + FOLLOW_UP;
  for (let turn = 0; text.length < STUDY.textLength; turn += 1) text += TURNS[turn % TURNS.length];
  return text.slice(0, STUDY.textLength);
}
