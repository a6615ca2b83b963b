import type { ToolFault } from '../contract/faults.ts';

/** Codes with so many causes that the catalogue's one hint often speaks of another; their messages say what to do. */
const MANIFOLD = new Set(['conflict', 'approval_state', 'not_allowed', 'invalid_input', 'validation_error']);

/** The hint as a line to print, if it surely fits: what was not found was sought by an id, or none is given. */
export function hintOf({ code, detail, hint }: ToolFault): string[] {
  if (MANIFOLD.has(code)) return [];
  if (code === 'not_found' && (detail?.id === undefined || detail.tool !== undefined)) return [];
  return [hint];
}
