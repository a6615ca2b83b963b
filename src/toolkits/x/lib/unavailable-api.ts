import type { ToolFault } from '../../../contract/faults.ts';
import type { XApi } from '../client/api.ts';

/** Stands in when no provider could be opened: whatever needs X gets the reason, and the rest keeps working. */
export function unavailableApi(fault: ToolFault): XApi {
  const refuse = (): Promise<never> => Promise.reject(fault);
  return {
    provider: {
      backend: 'x_api',
      mutations_available: false,
      risk_level: 'standard',
      data_confidence: 'high',
      unsupported_methods: [],
      note: fault.message,
    },
    request: refuse,
    raw: refuse,
    checkRaw: () => {
      throw fault;
    },
    uploadMedia: refuse,
    me: refuse,
    access: refuse,
    rateLimits: async () => [],
    usage: async () => [],
    close: async () => undefined,
  };
}
