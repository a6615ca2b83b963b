import type { ToolkitPolicy } from '../../contract/policy.ts';
import { dev } from './config.ts';
import { readAllowlist } from './tool-allowlist.ts';

/** The documented TOOL_ALLOWLIST: tools that it omits are not listed, and refused when called. */
export const policy: ToolkitPolicy = {
  toolkit: 'dev',
  allowlist: (tools, { section, env }) => readAllowlist(tools, section(dev).tool_allowlist, env),
};
