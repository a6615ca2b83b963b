import { ToolFault } from '../../contract/faults.ts';
import type { Step } from '../call.ts';
import type { Ports } from '../ports.ts';

/** After this step nothing throws: a fault is an outcome, anything else is logged and told as `internal`. */
export const containErrors =
  ({ log }: Pick<Ports, 'log'>): Step =>
  async (call, next) => {
    try {
      return await next();
    } catch (error) {
      if (error instanceof ToolFault) return { status: 'failed', fault: error };
      log.error('A step of the pipeline failed', {
        call: call.id,
        tool: call.request.bound.tool.name,
        error,
      });
      if (isStorageError(error)) {
        return {
          status: 'failed',
          fault: new ToolFault('db_error', 'The store could not be read or written; nothing was done.', {
            cause: error,
          }),
        };
      }
      return {
        status: 'failed',
        fault: new ToolFault('internal', `The call failed inside the server (call ${call.id}).`, {
          cause: error,
        }),
      };
    }
  };

function isStorageError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // SQLite codes are words; PostgreSQL's are five characters of class and condition; sockets have E-codes.
  return code.startsWith('SQLITE') || /^[0-9A-Z]{5}$/.test(code) || code.startsWith('ECONN');
}
