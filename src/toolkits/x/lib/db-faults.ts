import { ToolFault } from '../../../contract/faults.ts';

/**
 * Turns whatever a store throws into the documented `db_error`, in one place: tools and their tests then deal
 * with faults only. The driver's words go to `cause`, because they can quote stored text.
 */
export function withDbFaults<T extends object>(port: T): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(value, target, args);
        return result instanceof Promise ? result.catch(asDbFault) : result;
      };
    },
  });
}

function asDbFault(error: unknown): never {
  if (error instanceof ToolFault) throw error;
  throw new ToolFault('db_error', 'The store could not be read or written.', { cause: error });
}
