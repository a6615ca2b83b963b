import { ToolFault } from '../../contract/faults.ts';
import { storeProblem } from '../../lib/store-problem.ts';
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
      const problem = storeProblem(error);
      if (problem !== undefined) {
        const message = `Nothing was done. ${problem}`;
        return { status: 'failed', fault: new ToolFault('db_error', message, { cause: error }) };
      }
      return {
        status: 'failed',
        fault: new ToolFault('internal', `The call failed inside the server (call ${call.id}).`, {
          cause: error,
        }),
      };
    }
  };
