import { readFileSync } from 'node:fs';

interface PackageJson {
  readonly name: string;
  readonly mcpName: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly keywords: readonly string[];
  readonly engines: { readonly node: string };
}

const TITLE = 'Countersign';
const AUTHOR = { name: 'The Countersign authors' };

const readPackage = (): PackageJson => JSON.parse(readFileSync('package.json', 'utf8')) as PackageJson;

/** What other programs read to install Countersign, by path; all of it follows from package.json. */
export function distributionFiles(pack = readPackage()): Readonly<Record<string, object>> {
  const { name, version, description, license, keywords } = pack;
  return {
    'distribution/registry/server.json': serverJson(pack),
    'distribution/mcpb/manifest.json': bundleManifest(pack),
    'distribution/claude-code/.claude-plugin/plugin.json': {
      name,
      version,
      description,
      author: AUTHOR,
      license,
      keywords,
    },
    'distribution/claude-code/.mcp.json': {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it
      mcpServers: { [name]: { command: 'node', args: ['${CLAUDE_PLUGIN_ROOT}/start.mjs', 'mcp', 'serve'] } },
    },
    '.claude-plugin/marketplace.json': {
      name,
      owner: AUTHOR,
      plugins: [{ name, source: './distribution/claude-code', description, version }],
    },
  };
}

/** The entry for the MCP registry, for when the package is published; nothing reads it before. */
const serverJson = ({ name, mcpName, version, description }: PackageJson): object => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: mcpName,
  title: TITLE,
  description,
  version,
  packages: [
    {
      registryType: 'npm',
      identifier: name,
      version,
      runtimeHint: 'npx',
      transport: { type: 'stdio' },
      packageArguments: [
        { type: 'positional', value: 'mcp' },
        { type: 'positional', value: 'serve' },
      ],
      environmentVariables: [
        {
          name: 'COUNTERSIGN_TOKEN',
          description:
            'Token of this agent, from `countersign agents add NAME`. Without one it is the agent `local`.',
          isRequired: false,
          isSecret: true,
        },
        {
          name: 'COUNTERSIGN_HOME',
          description: 'Data directory. Default: ~/.countersign',
          isRequired: false,
          format: 'filepath',
        },
      ],
    },
  ],
});

/** The manifest of the MCPB bundle; `npm run bundle` narrows the platforms to the one it is made on. */
const bundleManifest = ({ name, version, description, license, keywords, engines }: PackageJson): object => ({
  manifest_version: '0.3',
  name,
  display_name: TITLE,
  version,
  description,
  author: AUTHOR,
  license,
  keywords,
  server: {
    type: 'node',
    entry_point: 'server/dist/main.js',
    mcp_config: {
      command: 'node',
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the client replaces these
      args: ['${__dirname}/server/dist/main.js', 'mcp', 'serve'],
      // No token: a client would pass an unset one on as empty, and an empty token is refused.
      env: { COUNTERSIGN_HOME: '${user_config.home}' },
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the client replaces these
    },
  },
  user_config: {
    home: {
      type: 'directory',
      title: 'Data directory',
      description: 'Where approvals and the audit log are stored. Use the same one for all clients.',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it
      default: '${HOME}/.countersign',
      required: false,
    },
  },
  tools_generated: true,
  prompts_generated: true,
  compatibility: { platforms: ['darwin', 'linux', 'win32'], runtimes: { node: engines.node } },
});
