import { z } from 'zod';
import { FAULTS, type FaultCode, ToolFault } from '../../../contract/faults.ts';
import type { JsonObject } from '../../../contract/json.ts';

const isCode = (text: string): text is FaultCode => text in FAULTS;

const storedFault = z.object({
  code: z.string().refine(isCode),
  message: z.string(),
  retryable: z.boolean(),
  effect: z.enum(['none', 'partial', 'unknown']),
});

/** A failure as it is kept until somebody has been told. */
export const faultToJson = (fault: ToolFault): JsonObject => ({
  code: fault.code,
  message: fault.message,
  retryable: fault.retryable,
  effect: fault.effect,
});

export function faultFromJson(text: string | null): ToolFault {
  const { code, message, retryable, effect } = storedFault.parse(JSON.parse(text ?? '{}'));
  return new ToolFault(code, message, { retryable, effect });
}
