import { isChange } from '../contract/effect.ts';
import { ToolFault } from '../contract/faults.ts';
import type { ToolContext } from '../contract/tool.ts';
import type { CallState } from './call.ts';
import type { Deadline } from './deadline.ts';
import type { Ports } from './ports.ts';

/** What a handler is given for this call. */
export function createContext(
  call: CallState,
  services: unknown,
  ports: Ports,
  deadline?: Deadline,
): ToolContext<unknown> {
  const { request } = call;
  return {
    services,
    callId: call.id,
    principal: request.principal,
    decider: call.decider,
    shown: call.shown,
    approvedBy: call.grant?.decidedBy,
    // The digest that was compared covers it, so it is what `bind` answered for this very call.
    binding: call.grant?.binding,
    get signal() {
      return deadline?.signal ?? request.signal ?? new AbortController().signal;
    },
    now: ports.now,
    progress: (message, done = 0, total) => request.onProgress?.({ message, done, total }),
    async artifact(name, mediaType, body) {
      const ref = await ports.artifacts.write(name, mediaType, body);
      call.artifacts.push(ref);
      return ref;
    },
    note: (notes) => {
      call.notes = { ...call.notes, ...notes };
    },
    attach: (part) => {
      call.attachments.push(part);
    },
    async call(name, args, options) {
      const bound = await ports.resolve(name);
      if (!bound || bound.toolkit.id !== request.bound.toolkit.id) {
        throw new ToolFault(
          'internal',
          `${request.bound.tool.name} tried to call ${name}, which is not a tool of its toolkit.`,
        );
      }
      const result = await ports.invoke({
        bound,
        args,
        principal: request.principal,
        transport: request.transport,
        client: request.client,
        signal: deadline?.signal ?? request.signal,
        idempotencyKey: options?.idempotencyKey,
        reason: request.reason,
        parent: call,
      });
      const { status } = result.outcome;
      if (isChange(bound.tool.effect) && (status === 'ok' || status === 'indeterminate'))
        call.partDone = true;
      return result.outcome;
    },
  };
}
