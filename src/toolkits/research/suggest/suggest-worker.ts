import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { publicMemo } from '../project/memo.ts';
import { SqliteReader } from '../project/reader.ts';
import { probeSchema, SqliteFile } from '../project/schema.ts';
import { answer } from './answers.ts';
import type { ProjectContent } from './content.ts';
import { SuggestionModel } from './model.ts';
import type { ProjectView, WorkerReply, WorkerRequest } from './protocol.ts';

/** Models kept; each view of a project has its own. */
const MOST_MODELS = 4;

/** A project file with the models of its views. */
class OpenFile {
  /** A project that was replaced, by a backup for instance, is another file under the same name. */
  readonly inode: number;
  readonly #db: SqliteFile;
  readonly #reader: SqliteReader;

  constructor(path: string, inode: number) {
    this.inode = inode;
    this.#db = new SqliteFile(join(path, 'data.qda'), { queryOnly: true });
    this.#reader = new SqliteReader(this.#db, probeSchema(this.#db, path), path);
  }

  /** Changes whenever anyone has committed. */
  version(): string {
    return `${this.inode} ${this.#db.pragma('data_version')}`;
  }

  close(): void {
    this.#db.close();
  }

  content({ hiddenSources, hiddenCoders, rejected }: ProjectView): ProjectContent {
    const reader = this.#reader;
    const hidden = new Set(hiddenSources);
    const coders = new Set(hiddenCoders);
    const names = new Map(
      reader.sources().flatMap(({ id, name, hasText }) => (hasText && !hidden.has(id) ? [[id, name]] : [])),
    );
    return {
      codes: reader.codes().map(({ id, name, memo, categoryId }) => ({
        id,
        name,
        memo: publicMemo(memo),
        categoryId,
      })),
      codings: reader
        .codings()
        .filter(({ anchored, owner, sourceId }) => anchored && names.has(sourceId) && !coders.has(owner))
        .map(({ codeId, sourceId, start, end }) => ({ codeId, sourceId, start, end })),
      rejected: rejected.filter(({ sourceId }) => names.has(sourceId)),
      sourceIds: [...names.keys()],
      source(id) {
        const name = names.get(id);
        const text = name === undefined ? undefined : reader.text(id);
        return name !== undefined && text ? { name, text } : undefined;
      },
    };
  }
}

interface Entry {
  state: string;
  content: ProjectContent;
  model: SuggestionModel;
}

const files = new Map<string, OpenFile>();
const entries = new Map<string, Promise<Entry>>();
const cancelled = new Set<number>();

/** The model for a view, as the project is now. Requests that come at the same time wait for the same work. */
async function entryFor(view: ProjectView): Promise<Entry> {
  const file = fileAt(view.path);
  const key = JSON.stringify([view.path, view.hiddenSources, view.hiddenCoders]);
  const before = entries.get(key);
  const next = (before ?? Promise.resolve(undefined))
    .catch(() => undefined)
    .then((entry) => bringUpToDate(file, view, entry));
  entries.delete(key);
  entries.set(key, next);
  for (const oldest of entries.keys()) {
    if (entries.size <= MOST_MODELS) break;
    entries.delete(oldest);
  }
  return next;
}

function fileAt(path: string): OpenFile {
  const inode = statSync(join(path, 'data.qda'), { throwIfNoEntry: false })?.ino ?? 0;
  const known = files.get(path);
  if (known?.inode === inode) return known;
  forget(path);
  const file = new OpenFile(path, inode);
  files.set(path, file);
  return file;
}

function forget(path: string): void {
  files.get(path)?.close();
  files.delete(path);
  // Its version counts from the start again, so a model of the old connection could be taken for current.
  for (const key of entries.keys())
    if (key.startsWith(JSON.stringify([path]).slice(0, -1))) entries.delete(key);
}

async function bringUpToDate(file: OpenFile, view: ProjectView, entry: Entry | undefined): Promise<Entry> {
  const state = JSON.stringify([file.version(), view.rejected]);
  if (entry?.state === state) return entry;
  const content = file.content(view);
  if (!entry) return { state, content, model: await SuggestionModel.build(content, pause) };
  entry.model.update(content);
  entry.state = state;
  entry.content = content;
  return entry;
}

const pause = async (): Promise<void> => {
  await nextTurn();
};

async function handle(request: Extract<WorkerRequest, { id: number }>): Promise<WorkerReply> {
  const { id, view, question } = request;
  const entry = await entryFor(view);
  const { content, model } = entry;
  const unlessCancelled = async () => {
    await nextTurn();
    if (cancelled.has(id)) throw new Error('The call was cancelled.');
  };
  const found = await answer(model, question, content, unlessCancelled);
  // Behind the answer: the next call gets weights that know what was decided since.
  if (model.needsRefit) setImmediate(() => void model.refit(pause).catch(() => undefined));
  return { id, answer: found };
}

parentPort?.on('message', (request: WorkerRequest) => {
  if ('cancel' in request) {
    cancelled.add(request.cancel);
    return;
  }
  void handle(request)
    .catch((error: unknown): WorkerReply => {
      // A file that was moved or replaced is opened again the next time.
      forget(request.view.path);
      return { id: request.id, error: error instanceof Error ? error.message : String(error) };
    })
    .then((reply) => {
      cancelled.delete(request.id);
      parentPort?.postMessage(reply);
    });
});
