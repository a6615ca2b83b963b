import { ADS_HOST, type Endpoint } from '../endpoints/endpoint.ts';
import type { FaultDoc } from './documents.ts';
import {
  adsProblem,
  duplicateContent,
  forbidden,
  invalidRequest,
  noSuchResource,
  notFound,
  type Problem,
  serverError,
  suspended,
  tooManyRequests,
  unauthorized,
  unavailable,
  usageCapped,
} from './problems.ts';
import type { State } from './state.ts';

/**
 * Scripted failures. `drop_before` cuts the connection before anything happens, `drop_after` when it has happened;
 * `not_found` misses the item, `gone` the whole endpoint; `slow` waits and then answers as usual; `garbled` answers
 * with something that is not JSON after it happened.
 */
export const FAULT_KINDS = [
  'rate_limited',
  'usage_capped',
  'unavailable',
  'server_error',
  'unauthorized',
  'forbidden',
  'suspended',
  'duplicate',
  'bad_request',
  'not_found',
  'gone',
  'drop_before',
  'drop_after',
  'slow',
  'garbled',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** The first fault that fits and is due; counted down in the state, so that all processes share one script. */
export function takeFault(state: State, endpoint: Endpoint, path: string): FaultDoc | undefined {
  for (const fault of state.all('faults').sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const fits =
      (fault.endpoint === undefined || fault.endpoint === endpoint.id) &&
      (fault.method === undefined || fault.method === endpoint.method) &&
      (fault.path === undefined || path.startsWith(fault.path));
    if (!fits) continue;
    if (fault.skip > 0) {
      state.put('faults', fault.id, { ...fault, skip: fault.skip - 1 });
      continue;
    }
    if (fault.times > 1) state.put('faults', fault.id, { ...fault, times: fault.times - 1 });
    else state.remove('faults', fault.id);
    return fault;
  }
  return undefined;
}

/** The error a fault answers with; undefined for those that strike otherwise. */
export function problemOf(fault: FaultDoc, { host }: Endpoint): Problem | undefined {
  switch (fault.kind as FaultKind) {
    case 'rate_limited':
      return tooManyRequests();
    case 'usage_capped':
      return usageCapped();
    case 'unavailable':
      return unavailable();
    case 'server_error':
      return serverError();
    case 'unauthorized':
      return unauthorized();
    case 'forbidden':
      return forbidden(fault.detail);
    case 'suspended':
      return suspended();
    case 'duplicate':
      return duplicateContent();
    case 'bad_request':
      return invalidRequest([
        { name: 'request', value: '', message: fault.detail ?? 'The request was refused deliberately' },
      ]);
    case 'not_found':
      return host === ADS_HOST
        ? adsProblem(404, 'NOT_FOUND', 'The entity was not found')
        : noSuchResource('resource', 'id', '0');
    case 'gone':
      return notFound();
    default:
      return undefined;
  }
}
