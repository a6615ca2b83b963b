import { ToolError } from '../../../contract/errors.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import type { AttributeScope, ProjectReader } from '../project/types.ts';

type Place = { readonly sourceId: number; readonly start: number; readonly end: number };

export interface Where {
  readonly source_ids?: readonly number[] | undefined;
  readonly case_ids?: readonly number[] | undefined;
  readonly attributes?: readonly AttributeCondition[] | undefined;
}

export interface AttributeCondition {
  readonly name: string;
  readonly value?: string | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Whether a place is in the named sources, belongs to the named cases and has the wanted attribute values. */
export function pickSources(lens: PrivacyView, where: Where): (place: Place) => boolean {
  const { reader } = lens;
  for (const source of where.source_ids ?? []) lens.source(source);
  const cases = new Set(reader.cases().map(({ id }) => id));
  for (const id of where.case_ids ?? [])
    if (!cases.has(id))
      throw new ToolError('not_found', `Case ${id} not found.`, { detail: { case_id: id } });
  const tests: ((place: Place) => boolean)[] = [];
  if (where.source_ids) {
    const sources = new Set(where.source_ids);
    tests.push(({ sourceId }) => sources.has(sourceId));
  }
  if (where.case_ids) tests.push(placesOfCases(reader, new Set(where.case_ids)));
  for (const condition of where.attributes ?? []) tests.push(placesWith(reader, condition));
  return (place) => tests.every((test) => test(place));
}

/** Text belongs to a case where a part of it does; pictures and recordings as a whole. */
export function placesOfCases(reader: ProjectReader, cases: ReadonlySet<number>): (place: Place) => boolean {
  const texts = reader.caseTexts().filter(({ caseId }) => cases.has(caseId));
  return (place) =>
    texts.some(
      ({ sourceId, start, end }) =>
        sourceId === place.sourceId && (end === 0 || (start < place.end && place.start < end)),
    );
}

export function requireAttribute(reader: ProjectReader, name: string, scope?: AttributeScope) {
  const type = reader
    .attributeTypes()
    .find((item) => item.name === name && (scope === undefined || item.scope === scope));
  if (type) return type;
  const known = reader.attributeTypes().map((item) => item.name);
  throw new ToolError(
    'not_found',
    `Attribute "${name}" not found. ${known.length > 0 ? `Attributes: ${known.join(', ')}.` : 'The project has no attributes.'}`,
    { detail: { attribute: name } },
  );
}

function placesWith(reader: ProjectReader, condition: AttributeCondition): (place: Place) => boolean {
  const { scope } = requireAttribute(reader, condition.name);
  const targets = new Set(
    reader
      .attributes()
      .filter(
        (item) => item.name === condition.name && item.scope === scope && matches(item.value, condition),
      )
      .map(({ targetId }) => targetId),
  );
  return scope === 'case' ? placesOfCases(reader, targets) : ({ sourceId }) => targets.has(sourceId);
}

export function matches(value: string, { value: wanted, min, max }: AttributeCondition): boolean {
  if (wanted !== undefined && value.trim().toLowerCase() !== wanted.trim().toLowerCase()) return false;
  if (min === undefined && max === undefined) return true;
  const number = value.trim() === '' ? Number.NaN : Number(value);
  return number >= (min ?? Number.NEGATIVE_INFINITY) && number <= (max ?? Number.POSITIVE_INFINITY);
}
