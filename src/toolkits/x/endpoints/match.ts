import { put } from '../../../lib/lookup.ts';
import type { Endpoint } from './endpoint.ts';
import { ALL_ENDPOINTS } from './table.ts';

export interface Match {
  /** More than one where X distinguishes them by the body only. */
  readonly endpoints: readonly Endpoint[];
  readonly path: Readonly<Record<string, string>>;
}

/** Which rows of the table a request is for; a path of literals wins over one with placeholders. */
export function matchEndpoints(method: string, host: string, path: string): Match | undefined {
  let best: { literals: number; endpoints: Endpoint[]; path: Record<string, string> } | undefined;
  for (const endpoint of ALL_ENDPOINTS) {
    if (endpoint.method !== method || endpoint.host !== host) continue;
    const values = matchPath(endpoint.path, path);
    if (!values) continue;
    const literals = endpoint.path.split('/').filter((part) => !part.startsWith('{')).length;
    if (!best || literals > best.literals) best = { literals, endpoints: [endpoint], path: values };
    else if (literals === best.literals) best.endpoints.push(endpoint);
  }
  return best;
}

function matchPath(template: string, path: string): Record<string, string> | undefined {
  const want = template.split('/');
  const have = path.split('/');
  if (want.length !== have.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of want.entries()) {
    const value = have[index] ?? '';
    if (part.startsWith('{')) {
      if (value === '') return undefined;
      put(values, part.slice(1, -1), decode(value));
    } else if (part !== value) return undefined;
  }
  return values;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
