import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { AssistantServices } from './services.ts';

const PING_MS = 20_000;

/**
 * For `countersign status` and `doctor`: what is configured, whether an order would be taken, and, with `ping`, whether
 * the model really answers. Problems are told, never thrown.
 */
export async function assistantStatus(
  services: Pick<AssistantServices, 'backend' | 'sessions' | 'files'>,
  options: { ping: boolean; signal?: AbortSignal },
): Promise<JsonObject> {
  const { backend, sessions, files } = services;
  const report: JsonObject = {
    ...backend.describe(),
    configured: true,
    personaFile: files.persona,
    memoryFile: files.memory,
    sessions: await sessions.count(),
  };
  const problem = await problemOf(() => backend.check());
  if (problem) return { ...report, configured: false, problem };
  if (!options.ping) return report;
  const timeout = AbortSignal.timeout(PING_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  let answer: JsonObject = {};
  const failure = await problemOf(async () => {
    answer = await backend.ping(signal);
  });
  return failure
    ? { ...report, reachable: false, problem: failure }
    : { ...report, reachable: true, ping: answer };
}

async function problemOf(work: () => Promise<void>): Promise<JsonObject | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof ToolFault) return { code: error.code, message: error.message, hint: error.hint };
    const isTimeout = error instanceof Error && error.name === 'TimeoutError';
    if (isTimeout)
      return {
        code: 'timeout',
        message: `No answer within ${PING_MS / 1000} s.`,
        hint: 'Check the address and the network.',
      };
    return { code: 'assistant_error', message: 'The check failed.', hint: 'The server log says why.' };
  }
}
