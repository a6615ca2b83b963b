import { ToolFault } from '../../../contract/faults.ts';

/** Words for a part that does not work, in tools that answer whatever happens. Remote text stays in the log. */
export function reasonOf(error: unknown): { readonly code: string; readonly message: string } {
  return error instanceof ToolFault
    ? { code: error.code, message: error.message }
    : { code: 'internal', message: 'It failed; details are in the server log.' };
}
