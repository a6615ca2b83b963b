import { ToolError } from '../../../contract/errors.ts';
import { ResearchError } from '../errors.ts';
import { CaseWriter } from './case-writer.ts';
import { checkRange, cleanColor, cleanName, noCategory, noCode, noCoding, noSource } from './checks.ts';
import { addFile, placeInProject, removeFile } from './create.ts';
import { ancestorsOf, mergeCodes } from './merge.ts';
import { type Cell, isUnique, numberOf, type ProjectSchema, type SqliteFile, textOf } from './schema.ts';
import type * as project from './types.ts';
import { encodings, locate } from './units.ts';

const CODED = [
  ['code_text', 'ctid'],
  ['code_image', 'imid'],
  ['code_av', 'avid'],
] as const;

/** Changes a project inside the store's transaction. */
export class SqliteWriter extends CaseWriter implements project.ProjectWriter {
  readonly #path: string;
  readonly #knownCodes = new Set<number>();
  readonly #files: { place: string; hash: string }[] = [];
  #listed: project.Source[] | undefined;

  constructor(db: SqliteFile, schema: ProjectSchema, path: string, stamp: { owner: string; date: string }) {
    super(db, schema, path, stamp);
    this.#path = path;
  }

  /** Files are not part of the database's transaction, so they are removed when it fails. */
  discardFiles(): void {
    for (const { place, hash } of this.#files) removeFile(this.#path, place, hash);
  }

  /** Read once: an import asks before every source it adds, and a long list of long texts is slow to walk. */
  override sources(): readonly project.Source[] {
    this.#listed ??= [...super.sources()];
    return this.#listed;
  }

  undoWork() {
    this.#listed = undefined;
    return { db: this.db, schema: this.schema, recorder: this.recorder };
  }

  addSource(source: project.NewSource): number {
    const name = cleanName(source.name, 'source');
    this.refuseTaken('source', 'id', 'source', name);
    const mediapath = source.mediaPath ?? null;
    if (source.file) this.#addFile(mediapath ?? '', source.file);
    const id = this.recorder.insert('source', {
      name,
      fulltext: source.text === null ? null : cleanText(source.text),
      mediapath,
      memo: source.memo ?? '',
      ...this.stamped(source),
      av_text_id: source.transcriptId ?? null,
      risid: null,
    });
    this.addPlaceholders('file', id, source);
    const added = this.#listed && this.source(id);
    if (added) this.#listed?.push(added);
    return id;
  }

  updateSource(id: number, patch: { name?: string; memo?: string; transcriptId?: number | null }): void {
    const old = this.source(id);
    if (!old) throw noSource(id);
    const values: { [column: string]: Cell } = {};
    if (patch.name !== undefined && patch.name !== old.name) {
      values.name = cleanName(patch.name, 'source');
      this.refuseTaken('source', 'id', 'source', values.name);
    }
    if (patch.memo !== undefined) values.memo = patch.memo;
    if (patch.transcriptId !== undefined) values.av_text_id = patch.transcriptId;
    this.recorder.update('source', id, values);
    this.#listed = undefined;
  }

  addCategory(category: project.NewCategory): number {
    const name = cleanName(category.name, 'category');
    this.refuseTaken('code_cat', 'catid', 'category', name);
    this.#checkCategory(category.parentId);
    return this.recorder.insert('code_cat', {
      name,
      memo: category.memo ?? '',
      supercatid: category.parentId ?? null,
      ...this.stamped(category),
    });
  }

  addCode(code: project.NewCode): number {
    const name = cleanName(code.name, 'code');
    this.refuseTaken('code_name', 'cid', 'code', name);
    return this.recorder.insert('code_name', {
      name,
      memo: code.memo ?? '',
      color: cleanColor(code.color ?? '#808080'),
      ...this.#placeOf(code),
      ...this.stamped(code),
    });
  }

  updateCode(id: number, patch: Parameters<project.ProjectWriter['updateCode']>[1]): void {
    const old = this.code(id);
    if (!old) throw noCode(id);
    const values: { [column: string]: Cell } = {};
    if (patch.name !== undefined && patch.name.trim() !== old.name) {
      values.name = cleanName(patch.name, 'code');
      this.refuseTaken('code_name', 'cid', 'code', values.name);
    }
    if (patch.color !== undefined) values.color = cleanColor(patch.color);
    if (patch.memo !== undefined) values.memo = patch.memo;
    if (patch.categoryId !== undefined || patch.parentId !== undefined) {
      const parent = patch.parentId ?? null;
      if (parent !== null && (parent === id || ancestorsOf(this.db, parent).has(id))) {
        throw new ToolError('validation_error', `Code ${id} cannot be placed below itself.`);
      }
      Object.assign(values, this.#placeOf(patch));
    }
    this.recorder.update('code_name', id, values);
  }

  removeCode(id: number): { codings: number } {
    const old = this.code(id);
    if (!old) throw noCode(id);
    let codings = 0;
    for (const [table, key] of CODED) {
      for (const row of this.db.all(`SELECT ${key} AS id FROM ${table} WHERE cid = ?`, id)) {
        this.recorder.remove(table, numberOf(row.id));
        codings += 1;
      }
    }
    if (this.schema.has('code_name', 'supercid')) {
      for (const row of this.db.all('SELECT cid FROM code_name WHERE supercid = ?', id)) {
        this.recorder.update('code_name', numberOf(row.cid), {
          supercid: old.parentId,
          catid: old.categoryId,
        });
      }
    }
    this.recorder.remove('code_name', id);
    this.#knownCodes.delete(id);
    return { codings };
  }

  mergeCodes(sourceId: number, targetId: number): { moved: number; joined: number } {
    const source = this.code(sourceId);
    const target = this.code(targetId);
    if (!source) throw noCode(sourceId);
    if (!target) throw noCode(targetId);
    this.#knownCodes.delete(sourceId);
    return mergeCodes({ db: this.db, schema: this.schema, recorder: this.recorder }, source, target);
  }

  addCoding(coding: project.NewCoding): { id: number; created: boolean } {
    const { codeId, sourceId, start, end } = coding;
    this.#checkCode(codeId);
    const { text, unit } = this.textOf(sourceId);
    checkRange(text, sourceId, start, end);
    const { owner, date } = this.stamped(coding);
    const seltext = text.slice(start, end);
    for (const range of encodings(text, unit, start, end)) {
      const id = this.#insertCoding({
        cid: codeId,
        fid: sourceId,
        seltext,
        ...range,
        owner,
        date,
        memo: coding.memo ?? '',
        avid: null,
        important: coding.important ? 1 : null,
      });
      if (id !== undefined) return { id, created: true };
      const other = this.db.get(
        'SELECT ctid, CAST(seltext AS BLOB) AS seltext FROM code_text WHERE cid = ? AND fid = ? AND pos0 = ? AND pos1 = ? AND owner = ?',
        codeId,
        sourceId,
        range.pos0,
        range.pos1,
        owner,
      );
      // When the same numbers stand for another range in another unit, the row needs the next way of writing.
      const place = locate(text, unit, range, textOf(other?.seltext));
      if (other && place.start === start && place.end === end)
        return { id: numberOf(other.ctid), created: false };
    }
    throw new ResearchError(
      'invalid_position',
      `The range ${start} to ${end} of source ${sourceId} cannot be stored in this project's way of counting; move an edge by one character.`,
      { detail: { source_id: sourceId, start_pos: start, end_pos: end } },
    );
  }

  updateCoding(id: number, patch: { memo?: string; important?: boolean }): void {
    if (!this.coding(id)) throw noCoding(id);
    const values: { [column: string]: Cell } = {};
    if (patch.memo !== undefined) values.memo = patch.memo;
    if (patch.important !== undefined) values.important = patch.important ? 1 : null;
    this.recorder.update('code_text', id, values);
  }

  removeCoding(id: number): void {
    if (!this.coding(id)) throw noCoding(id);
    this.recorder.remove('code_text', id);
  }

  addImageCoding(coding: project.NewImageCoding): number {
    this.#checkCode(coding.codeId);
    if (!this.source(coding.sourceId)) throw noSource(coding.sourceId);
    return this.recorder.insert('code_image', {
      id: coding.sourceId,
      x1: coding.x,
      y1: coding.y,
      width: coding.width,
      height: coding.height,
      cid: coding.codeId,
      memo: coding.memo ?? '',
      ...this.stamped(coding),
      important: coding.important ? 1 : null,
      pdf_page: coding.pdfPage ?? null,
    });
  }

  addMediaCoding(coding: project.NewMediaCoding): number {
    this.#checkCode(coding.codeId);
    if (!this.source(coding.sourceId)) throw noSource(coding.sourceId);
    return this.recorder.insert('code_av', {
      id: coding.sourceId,
      pos0: coding.startMs,
      pos1: coding.endMs,
      cid: coding.codeId,
      memo: coding.memo ?? '',
      ...this.stamped(coding),
      important: coding.important ? 1 : null,
    });
  }

  setProjectMemo(memo: string): void {
    this.recorder.update('project', 1, { memo });
  }

  #insertCoding(values: { readonly [column: string]: Cell }): number | undefined {
    try {
      return this.recorder.insert('code_text', values);
    } catch (error) {
      if (isUnique(error)) return undefined;
      throw error;
    }
  }

  #checkCode(id: number): void {
    if (this.#knownCodes.has(id)) return;
    if (!this.db.get('SELECT 1 FROM code_name WHERE cid = ?', id)) throw noCode(id);
    this.#knownCodes.add(id);
  }

  /** No one else writes during our transaction, so nothing read in it grows stale. */
  protected override forgetStale(): void {}

  #checkCategory(id: number | null | undefined): void {
    if (id == null) return;
    if (!this.db.get('SELECT 1 FROM code_cat WHERE catid = ?', id)) throw noCategory(id);
  }

  /** A code stands in a category or below a code, never both. */
  #placeOf(place: { categoryId?: number | null; parentId?: number | null }): { catid: Cell; supercid: Cell } {
    const parent = place.parentId ?? null;
    if (parent === null) {
      this.#checkCategory(place.categoryId);
      return { catid: place.categoryId ?? null, supercid: null };
    }
    if (!this.schema.has('code_name', 'supercid')) {
      throw new ToolError(
        'validation_error',
        `This project (format v${this.schema.version}) has no sub-codes; use a category.`,
      );
    }
    this.#checkCode(parent);
    return { catid: null, supercid: parent };
  }

  #addFile(mediaPath: string, body: Uint8Array): void {
    const place = placeInProject(mediaPath);
    const { hash, added } = addFile(this.#path, place, body);
    if (!added) return;
    this.#files.push({ place, hash });
    this.recorder.noteFile(place, hash);
  }
}

/** As QualCoder imports text: no byte order mark, LF line ends. */
function cleanText(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .replaceAll('\0', '');
}
