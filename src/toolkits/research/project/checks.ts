import { ToolFault } from '../../../contract/faults.ts';
import type { IndexedText } from '../lib/source-text.ts';

const LONGEST_NAME = 255;

export function cleanName(name: string, what: string): string {
  const clean = name.trim();
  if (!clean) throw new ToolFault('validation_error', `The ${what} needs a name.`);
  if (clean.length > LONGEST_NAME) {
    throw new ToolFault(
      'validation_error',
      `The name of the ${what} has ${clean.length} characters; ${LONGEST_NAME} is the most.`,
    );
  }
  return clean;
}

export const nameTaken = (what: string, name: string, id: number | string) =>
  new ToolFault('conflict', `A ${what} named "${name}" exists already (id ${id}).`, {
    detail: { name, existing_id: id },
  });

export const noCode = (id: number) =>
  new ToolFault('code_not_found', `There is no code with id ${id}.`, { detail: { code_id: id } });

export const noSource = (id: number) =>
  new ToolFault('source_not_found', `There is no source with id ${id}.`, { detail: { source_id: id } });

export const noText = (id: number) =>
  new ToolFault('invalid_position', `Source ${id} has no text, so no range of it can be read or coded.`, {
    detail: { source_id: id },
  });

export const noCategory = (id: number) =>
  new ToolFault('not_found', `There is no category with id ${id}.`, { detail: { category_id: id } });

export function checkRange(
  text: IndexedText | { readonly length: number },
  sourceId: number,
  start: number,
  end: number,
): void {
  const whole = Number.isInteger(start) && Number.isInteger(end);
  if (whole && start >= 0 && end > start && end <= text.length) return;
  throw new ToolFault(
    'invalid_position',
    `The range ${start} to ${end} does not lie in source ${sourceId}, which has ${text.length} characters: the start must be 0 or more and the end after it.`,
    { detail: { source_id: sourceId, start_pos: start, end_pos: end, total_length: text.length } },
  );
}

export function cleanColor(color: string): string {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(color);
  const full = short ? `#${short[1]}${short[1]}${short[2]}${short[2]}${short[3]}${short[3]}` : color;
  if (!/^#[0-9a-f]{6}$/i.test(full)) {
    throw new ToolFault('validation_error', `The color "${color}" is not of the form #RRGGBB.`);
  }
  return full;
}
