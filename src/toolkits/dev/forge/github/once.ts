import { ToolFault } from '../../../../contract/faults.ts';

const SECOND_LOOK_MS = 15_000;

/**
 * A write whose answer was lost is looked up by its marker before anything is said about it. Found: it happened.
 * Not found: it may still be on its way, so the fault stays `unknown`.
 */
export async function writeOnce<T>(
  send: () => Promise<T>,
  look: (signal: AbortSignal) => Promise<T | undefined>,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ToolFault) || error.effect !== 'unknown') throw error;
    // The caller's own signal may be what cut the answer off.
    const found = await look(AbortSignal.timeout(SECOND_LOOK_MS)).catch(() => undefined);
    if (found !== undefined) return found;
    throw error;
  }
}
