/** `countersign mcp-server`: the assistant alone on stdio, under the documented name. */
export const mcpServer = {
  name: 'clawdbot-mcp-server',
  toolkits: ['assistant'] as const,
  /** What `countersign mcp-server --version` prints. */
  versionLine: (version: string): string => `clawdbot-mcp-server ${version}`,
} as const;
