import type { JsonObject, JsonValue } from '../contract/json.ts';
import { TASKS_EXTENSION } from '../contract/servers.ts';
import { isObject } from '../lib/is-object.ts';
import type { Definition } from './definition.ts';

/** How long a task may take where the configuration sets no deadline; a server is asked to keep its result as long. */
export const TASK_MS = 3_600_000;

/** Whether a server makes tasks of calls, in either generation. */
export function takesTasks(capabilities: unknown): boolean {
  if (!isObject(capabilities)) return false;
  const { tasks, extensions } = capabilities as JsonObject;
  const requests = isObject(tasks) ? tasks.requests : undefined;
  const tools = isObject(requests) ? requests.tools : undefined;
  return (
    (isObject(tools) && isObject(tools.call)) ||
    (isObject(extensions) && extensions[TASKS_EXTENSION] !== undefined)
  );
}

/**
 * Whether calls of one tool may become tasks. A legacy server says it of each tool; a modern one decides call by call,
 * so any of its tools may.
 */
export function taskSupport(
  { execution }: Definition,
  era: JsonValue | undefined,
  capabilities: JsonValue | undefined,
): 'never' | 'possible' | 'required' {
  if (!takesTasks(capabilities)) return 'never';
  if (era === 'modern') return 'possible';
  const wanted = isObject(execution) ? execution.taskSupport : undefined;
  return wanted === 'required' ? 'required' : wanted === 'optional' ? 'possible' : 'never';
}
