import { ToolError } from '../../../contract/errors.ts';
import { checkRange, cleanName, nameTaken, noSource, noText } from './checks.ts';
import { SqliteReader } from './reader.ts';
import { Recorder } from './recorder.ts';
import { numberOf, type ProjectSchema, type SqliteFile } from './schema.ts';
import type * as project from './types.ts';
import { encodePosition } from './units.ts';

export interface Stamp {
  readonly owner?: string;
  readonly date?: string;
}

/** The half of the writer that knows cases, attributes, journals and annotations, and what both halves need. */
export class CaseWriter extends SqliteReader {
  readonly recorder: Recorder;
  readonly #stamp: { readonly owner: string; readonly date: string };

  constructor(db: SqliteFile, schema: ProjectSchema, path: string, stamp: { owner: string; date: string }) {
    super(db, schema, path);
    this.recorder = new Recorder(db, schema);
    this.#stamp = stamp;
  }

  addAnnotation(annotation: project.NewAnnotation): number {
    const range = this.storedRange(annotation);
    const stamp = this.stamped(annotation);
    const other = this.db.get(
      'SELECT anid FROM annotation WHERE fid = ? AND pos0 = ? AND pos1 = ? AND owner = ?',
      annotation.sourceId,
      range.pos0,
      range.pos1,
      stamp.owner,
    );
    if (other)
      throw new ToolError(
        'conflict',
        `${stamp.owner} has an annotation on exactly this range (id ${other.anid}).`,
      );
    return this.recorder.insert('annotation', {
      fid: annotation.sourceId,
      ...range,
      memo: annotation.memo,
      ...stamp,
    });
  }

  addCase(item: Stamp & { name: string; memo?: string }): number {
    const name = cleanName(item.name, 'case');
    this.refuseTaken('cases', 'caseid', 'case', name);
    const id = this.recorder.insert('cases', { name, memo: item.memo ?? '', ...this.stamped(item) });
    this.addPlaceholders('case', id, item);
    return id;
  }

  updateCase(id: number, { memo }: { memo: string }): void {
    if (!this.db.get('SELECT 1 FROM cases WHERE caseid = ?', id))
      throw new ToolError('not_found', `Case ${id} not found.`, { detail: { case_id: id } });
    this.recorder.update('cases', id, { memo });
  }

  addCaseText(item: Parameters<project.ProjectWriter['addCaseText']>[0]): number {
    if (!this.db.get('SELECT 1 FROM cases WHERE caseid = ?', item.caseId)) {
      throw new ToolError('not_found', `Case ${item.caseId} not found.`);
    }
    const source = this.source(item.sourceId);
    if (!source) throw noSource(item.sourceId);
    const range = source.hasText && item.end > 0 ? this.storedRange(item) : { pos0: 0, pos1: 0 };
    return this.recorder.insert('case_text', {
      caseid: item.caseId,
      fid: item.sourceId,
      ...range,
      ...this.stamped(item),
      memo: item.memo ?? '',
    });
  }

  addAttributeType(type: Parameters<project.ProjectWriter['addAttributeType']>[0]): void {
    const name = cleanName(type.name, 'attribute');
    const old = this.attributeTypes().find((other) => other.name === name);
    if (old && old.scope === type.scope) return;
    if (old) throw nameTaken(`attribute of each ${old.scope}`, name, name);
    const stamp = this.stamped(type);
    this.recorder.insert('attribute_type', {
      name,
      ...stamp,
      memo: type.memo ?? '',
      caseOrFile: type.scope,
      valuetype: type.valueType,
    });
    for (const id of this.targets(type.scope)) this.addPlaceholder(name, type.scope, id, stamp);
  }

  setAttribute(item: Parameters<project.ProjectWriter['setAttribute']>[0]): void {
    const { name, scope, targetId, value } = item;
    if (!this.attributeTypes().some((type) => type.name === name && type.scope === scope)) {
      throw new ToolError('not_found', `No ${scope} attribute is named "${name}".`);
    }
    if (!this.targets(scope).includes(targetId))
      throw new ToolError('not_found', `No ${scope} has the ID ${targetId}.`);
    const row = this.db.get(
      'SELECT attrid FROM attribute WHERE name = ? AND attr_type = ? AND id = ?',
      name,
      scope,
      targetId,
    );
    const stamp = this.stamped(item);
    if (row) this.recorder.update('attribute', numberOf(row.attrid), { value, ...stamp });
    else this.recorder.insert('attribute', { name, attr_type: scope, value, id: targetId, ...stamp });
  }

  addJournal(item: Stamp & { name: string; entry: string }): number {
    const name = cleanName(item.name, 'journal');
    this.refuseTaken('journal', 'jid', 'journal', name);
    const id = this.recorder.insert('journal', { name, jentry: item.entry, ...this.stamped(item) });
    this.addPlaceholders('journal', id, item);
    return id;
  }

  protected stamped(stamp: Stamp): { owner: string; date: string } {
    return { owner: stamp.owner ?? this.#stamp.owner, date: stamp.date ?? this.#stamp.date };
  }

  protected refuseTaken(table: string, key: string, what: string, name: string): void {
    const row = this.db.get(`SELECT ${key} AS id FROM ${table} WHERE name = ?`, name);
    if (row) throw nameTaken(what, name, numberOf(row.id));
  }

  protected textOf(sourceId: number) {
    const item = this.cached(sourceId);
    if (item) return item;
    throw this.source(sourceId) ? noText(sourceId) : noSource(sourceId);
  }

  protected storedRange(item: { sourceId: number; start: number; end: number }) {
    const { text, unit } = this.textOf(item.sourceId);
    checkRange(text, item.sourceId, item.start, item.end);
    return { pos0: encodePosition(text, unit, item.start), pos1: encodePosition(text, unit, item.end) };
  }

  protected targets(scope: project.AttributeScope): readonly number[] {
    const [table, key] = { file: ['source', 'id'], case: ['cases', 'caseid'], journal: ['journal', 'jid'] }[
      scope
    ];
    return this.db.all(`SELECT ${key} AS id FROM ${table}`).map((row) => numberOf(row.id));
  }

  protected addPlaceholders(scope: project.AttributeScope, id: number, stamp: Stamp): void {
    for (const type of this.attributeTypes()) {
      if (type.scope === scope) this.addPlaceholder(type.name, scope, id, this.stamped(stamp));
    }
  }

  /** QualCoder expects an empty value of every attribute for everything that can have it. */
  protected addPlaceholder(
    name: string,
    scope: project.AttributeScope,
    id: number,
    stamp: { owner: string; date: string },
  ): void {
    this.recorder.insert('attribute', { name, attr_type: scope, value: '', id, ...stamp });
  }
}
