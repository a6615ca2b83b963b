import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client';
import type { JsonObject } from '../contract/json.ts';
import { TASKS_EXTENSION } from '../contract/servers.ts';
import type { Connection } from './connection.ts';
import { TASK_MS, takesTasks } from './task-support.ts';
import type { RequestOptions } from './upstream.ts';

/**
 * A modern server learns with each call what its client can be asked, never more than the client declared itself,
 * whether it takes a handle, and which log messages it wants. A legacy server knows none of these keys; it is asked for
 * a task with the call itself.
 */
export function paramsFor(
  method: string,
  params: JsonObject,
  { era, client }: Connection,
  { ask, task }: Pick<RequestOptions, 'ask' | 'task'>,
): JsonObject {
  const { [LOG_LEVEL_META_KEY]: level, ...meta } = (params._meta ?? {}) as JsonObject;
  if (era.kind === 'modern')
    return {
      ...params,
      _meta: {
        ...meta,
        ...(level === undefined ? {} : { [LOG_LEVEL_META_KEY]: level }),
        [CLIENT_CAPABILITIES_META_KEY]: {
          ...ask?.capabilities,
          ...(task ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
        },
      },
    };
  const { _meta: _, ...rest } = params;
  const asTask = task && method === 'tools/call' && takesTasks(client.getServerCapabilities());
  return {
    ...rest,
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
    ...(asTask ? { task: { ttl: TASK_MS } } : {}),
  };
}
