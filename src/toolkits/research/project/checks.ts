import { ToolError } from '../../../contract/errors.ts';
import { ResearchError } from '../errors.ts';
import type { IndexedText } from './source-text.ts';
import type { Coding, ProjectReader } from './types.ts';

const LONGEST_NAME = 255;

export function cleanName(name: string, what: string): string {
  const clean = name.trim();
  if (!clean) throw new ToolError('validation_error', `The ${what} needs a name.`);
  if (clean.length > LONGEST_NAME) {
    throw new ToolError(
      'validation_error',
      `The name of the ${what} has ${clean.length} characters; the maximum is ${LONGEST_NAME}.`,
    );
  }
  return clean;
}

export const nameTaken = (what: string, name: string, id: number | string) =>
  new ToolError('conflict', `A ${what} named "${name}" already exists (ID ${id}).`, {
    detail: { name, existing_id: id },
  });

export const noCode = (id: number) =>
  new ResearchError('code_not_found', `Code ${id} not found.`, { detail: { code_id: id } });

export const noSource = (id: number) =>
  new ResearchError('source_not_found', `Source ${id} not found.`, { detail: { source_id: id } });

export const noText = (id: number) =>
  new ResearchError('invalid_position', `Source ${id} has no text, so no range of it can be read or coded.`, {
    detail: { source_id: id },
  });

/** QualCoder's interface has one code for everything of the codebook that does not exist. */
export const noCoding = (id: number) =>
  new ResearchError('code_not_found', `Coded segment ${id} not found.`, {
    detail: { segment_id: id },
    hint: 'Use a segment_id from list_segments_for_source or list_segments_for_code.',
  });

export const selfMerge = (id: number) =>
  new ResearchError('code_not_found', `Code ${id} cannot be merged into itself.`, {
    detail: { code_id: id },
    hint: 'Give two different codes, with IDs from list_codes.',
  });

export function requireCoding(reader: Pick<ProjectReader, 'coding'>, segmentId: number): Coding {
  const coding = reader.coding(segmentId);
  if (coding) return coding;
  throw noCoding(segmentId);
}

export const noCategory = (id: number) =>
  new ToolError('not_found', `Category ${id} not found.`, { detail: { category_id: id } });

export function checkRange(
  text: IndexedText | { readonly length: number },
  sourceId: number,
  start: number,
  end: number,
): void {
  const whole = Number.isInteger(start) && Number.isInteger(end);
  if (whole && start >= 0 && end > start && end <= text.length) return;
  throw new ResearchError(
    'invalid_position',
    `The range ${start} to ${end} is outside source ${sourceId}, which has ${text.length} characters: the start must be 0 or more and the end after it.`,
    { detail: { source_id: sourceId, start_pos: start, end_pos: end, total_length: text.length } },
  );
}

export function cleanColor(color: string): string {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(color);
  const full = short ? `#${short[1]}${short[1]}${short[2]}${short[2]}${short[3]}${short[3]}` : color;
  if (!/^#[0-9a-f]{6}$/i.test(full)) {
    throw new ToolError('validation_error', `Invalid color "${color}". Use the form #RRGGBB.`);
  }
  return full;
}
