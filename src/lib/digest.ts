import { hash } from 'node:crypto';
import { canonicalJson } from './canonical.ts';

/**
 * What an approval binds to: SHA-256 in hex over the canonical form of tool and arguments, and of what a toolkit
 * binds a permit to beyond them.
 */
export const digest = (tool: string, args: unknown, binding?: unknown): string =>
  hash('sha256', canonicalJson({ tool, args, binding }));
