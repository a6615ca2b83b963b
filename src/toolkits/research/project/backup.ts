import { cp, link, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolFault } from '../../../contract/faults.ts';
import { backupDay, backupStamp } from '../lib/dates.ts';
import { SqliteFile } from './sqlite.ts';

const MARK = 'made-by-countersign.json';
/** Large and never changed by us: linked instead of copied where the disk can. */
const LINKED = ['images', 'audio', 'video'];

/**
 * A copy beside the project, named as QualCoder names its backups, once a day. The database is copied by SQLite
 * itself: a plain copy could catch it in mid-change, and closing its file would drop this process's locks.
 */
export async function backupIfDue(project: string, now: Date, keep: number): Promise<string | undefined> {
  const folder = dirname(project);
  const stem = basename(project).replace(/\.qda$/i, '');
  const target = join(folder, `${stem}_BKUP_${backupStamp(now)}.qda`);
  const partial = `${target}.partial`;
  try {
    const today = `${stem}_BKUP_${backupDay(now)}_`;
    const others = await readdir(folder);
    if (others.some((name) => name.startsWith(today) && name.endsWith('.qda'))) return undefined;
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    await copyInto(project, partial);
    await writeFile(join(partial, MARK), JSON.stringify({ project, at: now.toISOString() }));
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    throw new ToolFault(
      'not_allowed',
      `The day's backup of the project could not be made beside it in ${folder}, so nothing was changed. Make room there, or let this user write there.`,
      { cause: error },
    );
  }
  await prune(folder, stem, keep);
  return target;
}

async function copyInto(project: string, target: string): Promise<void> {
  const db = new SqliteFile(join(project, 'data.qda'));
  try {
    db.run('VACUUM INTO ?', join(target, 'data.qda'));
  } finally {
    db.close();
  }
  for (const entry of await readdir(project, { withFileTypes: true })) {
    const from = join(project, entry.name);
    const to = join(target, entry.name);
    if (!entry.isDirectory() || entry.name === 'ai_data') continue;
    if (LINKED.includes(entry.name)) await linkFolder(from, to);
    else await cp(from, to, { recursive: true });
  }
}

async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A disk without hard links keeps its recordings only once; they are not ours to change.
    await link(join(from, entry.name), join(to, entry.name)).catch(() => undefined);
  }
}

/** Takes away the oldest of our own backups, never one that QualCoder or a person made. */
async function prune(folder: string, stem: string, keep: number): Promise<void> {
  const ours: string[] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (!name.startsWith(`${stem}_BKUP_`) || !name.endsWith('.qda')) continue;
    const marked = await stat(join(folder, name, MARK)).catch(() => undefined);
    if (marked) ours.push(name);
  }
  for (const name of ours.slice(0, Math.max(ours.length - keep, 0))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
