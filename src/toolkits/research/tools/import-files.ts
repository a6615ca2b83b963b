import { readFile } from 'node:fs/promises';
import { basename, extname, isAbsolute } from 'node:path';
import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { homePath } from '../../../lib/home-path.ts';
import type { ExchangeNote } from '../exchange/report.ts';
import { requirePerson } from '../lib/person.ts';
import { addedIds, reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import type { ChangeBy, ProjectStore } from '../project/types.ts';
import { defineResearchTool, type ResearchServices } from '../services.ts';

const note = z.object({
  kind: z.enum(['repaired', 'lost']),
  what: z.string(),
  count: z.int(),
  where: z.array(z.string()),
});

/** For `countersign research import` and the web app; what comes into a project is for a person to say. */
export const importFiles = defineResearchTool({
  name: 'import_files',
  title: 'Import files',
  summary:
    'Adds documents (txt, md, docx, pdf, srt, vtt, csv survey), a REFI-QDA project (.qdpx) or a codebook (.qdc) to the project, all or nothing.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  faults: ['no_project', 'file_read_error', 'validation_error', 'conflict', 'busy'],
  deadlineMs: 1_800_000,
  input: z.object({
    paths: z.array(z.string()).min(1).describe('Absolute paths, or ~/…; a .qdpx or .qdc comes alone.'),
  }),
  output: z.object({
    sources: z.array(z.object({ id: z.int(), name: z.string() })),
    source_count: z.int(),
    code_count: z.int(),
    notes: z.array(note).describe('What was repaired or could not be taken over.'),
  }),

  async run({ paths }, context) {
    requirePerson(context.principal, 'import files');
    const session = await openSession(context);
    const { store } = session.project;
    const by = await changeBy(context, session, 'import_files');
    const before = { sources: store.sources().length, codes: store.codes().length };
    const known = new Set(store.sources().map(({ id }) => id));
    const notes = await importAll(store, by, paths, context);
    const sources = store.sources();
    return {
      sources: sources.flatMap(({ id, name }) => (known.has(id) ? [] : [{ id, name }])),
      source_count: sources.length - before.sources,
      code_count: store.codes().length - before.codes,
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
        notes: [],
      };
    }),
});

async function importAll(
  store: ProjectStore,
  by: ChangeBy,
  given: readonly string[],
  { signal, progress }: ToolContext<ResearchServices>,
): Promise<readonly ExchangeNote[]> {
  const relative = given.find((path) => !isAbsolute(path) && !path.startsWith('~'));
  if (relative !== undefined) {
    throw new ToolFault('validation_error', `"${relative}" is not an absolute path.`);
  }
  const paths = given.map(homePath);
  const working = {
    signal,
    progress: (message: string, done: number, total: number) => progress(message, done, total),
  };
  const [first = ''] = paths;
  const kind = extname(first).toLowerCase();
  if ((kind === '.qdpx' || kind === '.qdc') && paths.length > 1) {
    throw new ToolFault('validation_error', `A ${kind} file is imported alone.`);
  }
  if (kind === '.qdpx') {
    const { importQdpx } = await import('../exchange/import-qdpx.ts');
    return (await importQdpx(store, by, first, working)).notes;
  }
  if (kind === '.qdc') {
    const { importCodebook } = await import('../exchange/codebook.ts');
    return (await importCodebook(store, by, await read(first))).notes;
  }
  const { importDocuments } = await import('../exchange/import-documents.ts');
  const files = paths.map((path) => ({ name: basename(path), read: () => read(path) }));
  return (await importDocuments(store, by, files, working)).notes;
}

async function read(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new ToolFault('file_read_error', `The file ${path} could not be read.`, { cause: error });
  }
}
