import { readFile } from 'node:fs/promises';
import { basename, extname, isAbsolute } from 'node:path';
import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { homePath } from '../../../lib/file-error.ts';
import type { ExchangeNote } from '../exchange/report.ts';
import type { ChangeBy, ProjectStore } from '../project/types.ts';
import { defineResearchTool, type ResearchServices } from '../services.ts';
import { addedIds, changeBy, openSession, reconcile } from '../session.ts';
import { requirePerson } from './projects.ts';

const note = z.object({
  kind: z.enum(['repaired', 'lost']),
  what: z.string(),
  count: z.int(),
  where: z.array(z.string()),
});

/** Whole projects and codebooks; what they hold is added as one. */
const ALONE = new Set(['.qdpx', '.qdc', '.sqlite3']);

/** For `countersign research import` and the web app; what comes into a project is for a person to say. */
export const importFiles = defineResearchTool({
  name: 'import_files',
  title: 'Import files',
  summary:
    'Adds documents (txt, md, docx, pdf, srt, vtt, csv survey), a REFI-QDA project (.qdpx), a Taguette project (.sqlite3) or a codebook (.qdc), all or nothing.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  errors: ['no_project', 'file_read_error', 'validation_error', 'conflict', 'busy'],
  deadlineMs: 1_800_000,
  input: z.object({
    paths: z
      .array(z.string())
      .min(1)
      .describe('Absolute paths, or ~/…; a .qdpx, .sqlite3 or .qdc comes alone.'),
  }),
  output: z.object({
    sources: z.array(z.object({ id: z.int(), name: z.string() })),
    source_count: z.int(),
    code_count: z.int(),
    coding_count: z.int(),
    notes: z.array(note).describe('What was repaired or could not be imported.'),
  }),

  async run({ paths }, context) {
    requirePerson(context.principal, 'import files');
    const session = await openSession(context);
    const { store } = session.project;
    const by = await changeBy(context, session, 'import_files');
    const before = {
      sources: store.sources().length,
      codes: store.codes().length,
      codings: codingsIn(store),
    };
    const known = new Set(store.sources().map(({ id }) => id));
    const notes = await importAll(store, by, paths, context);
    const sources = store.sources();
    return {
      sources: sources.flatMap(({ id, name }) => (known.has(id) ? [] : [{ id, name }])),
      source_count: sources.length - before.sources,
      code_count: store.codes().length - before.codes,
      coding_count: codingsIn(store) - before.codings,
      notes: notes.map((item) => ({ ...item, where: [...item.where] })),
    };
  },

  reconcile: (_, context) =>
    reconcile(context, (change, project) => {
      const ids = new Set(addedIds(change, 'source'));
      const sources = project.sources().flatMap(({ id, name }) => (ids.has(id) ? [{ id, name }] : []));
      return {
        sources,
        source_count: sources.length,
        code_count: addedIds(change, 'code_name').length,
        coding_count: CODED.flatMap((table) => addedIds(change, table)).length,
        notes: [],
      };
    }),
});

const CODED = ['code_text', 'code_image', 'code_av'];

const codingsIn = (store: ProjectStore): number =>
  [...store.codingCounts().values()].reduce((sum, count) => sum + count, 0);

async function importAll(
  store: ProjectStore,
  by: ChangeBy,
  given: readonly string[],
  { signal, progress }: ToolContext<ResearchServices>,
): Promise<readonly ExchangeNote[]> {
  const relative = given.find((path) => !isAbsolute(path) && !path.startsWith('~'));
  if (relative !== undefined) {
    throw new ToolError('validation_error', `"${relative}" is not an absolute path.`);
  }
  const paths = given.map(homePath);
  const working = {
    signal,
    progress: (message: string, done: number, total: number) => progress(message, done, total),
  };
  const [first = ''] = paths;
  const kind = extname(first).toLowerCase();
  if (ALONE.has(kind) && paths.length > 1) {
    throw new ToolError('validation_error', `A ${kind} file is imported alone.`);
  }
  if (kind === '.qdpx') {
    const { importQdpx } = await import('../exchange/import-qdpx.ts');
    return (await importQdpx(store, by, first, working)).notes;
  }
  if (kind === '.qdc') {
    const { importCodebook } = await import('../exchange/codebook.ts');
    return (await importCodebook(store, by, await read(first))).notes;
  }
  if (kind === '.sqlite3') {
    const { importTaguette } = await import('../exchange/import-taguette.ts');
    return (await importTaguette(store, by, first, working)).notes;
  }
  const { importDocuments } = await import('../exchange/import-documents.ts');
  const files = paths.map((path) => ({ name: basename(path), read: () => read(path) }));
  return (await importDocuments(store, by, files, working)).notes;
}

async function read(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new ToolError('file_read_error', `The file ${path} could not be read.`, { cause: error });
  }
}
