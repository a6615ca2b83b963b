import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport, type StdioServerParameters } from '@modelcontextprotocol/client/stdio';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import yauzl from 'yauzl';
import { distributionFiles } from '../../scripts/gen/distribution.ts';
import { createProgram } from '../../src/cli/program.ts';
import { createHome, startUp } from './support.ts';

const readJson = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
const pack = readJson('package.json') as { name: string; mcpName: string; version: string };

/** What is wrong with a document by a schema of ours; empty when nothing is. */
function problemsOf(document: unknown, schema: string): string[] {
  const ajv = new Ajv({ allErrors: true, formats: { uri: true } });
  const validate = ajv.compile(readJson(join('test/data/schemas', schema)));
  return validate(document) ? [] : (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`);
}

describe('what is generated for other programs', () => {
  it('is as committed', () => {
    for (const [path, value] of Object.entries(distributionFiles()))
      expect(readJson(path), path).toEqual(JSON.parse(JSON.stringify(value)));
  });

  it('is a valid entry for the MCP registry, with the name and version of the package', () => {
    const server = readJson('distribution/registry/server.json');
    expect(problemsOf(server, 'mcp-registry-server-2025-12-11.json')).toEqual([]);
    expect(server).toMatchObject({
      name: pack.mcpName,
      version: pack.version,
      packages: [{ identifier: pack.name, version: pack.version }],
    });
    expect(
      problemsOf({ ...server, description: 'x'.repeat(101) }, 'mcp-registry-server-2025-12-11.json'),
    ).toEqual([expect.stringContaining('/description')]);
  });

  it('is a valid manifest 0.3 and a Claude Code plugin with its servers at its root', () => {
    const manifest = readJson('distribution/mcpb/manifest.json');
    expect(problemsOf(manifest, 'mcpb-manifest-0.3.json')).toEqual([]);
    expect(problemsOf({ ...manifest, server: {} }, 'mcpb-manifest-0.3.json')).not.toEqual([]);
    const plugin = 'distribution/claude-code';
    expect(readJson(`${plugin}/.claude-plugin/plugin.json`)).toMatchObject({
      name: pack.name,
      version: pack.version,
    });
    expect(readJson('.claude-plugin/marketplace.json')).toMatchObject({
      plugins: [{ source: `./${plugin}` }],
    });
  });
});

describe('the Claude Code plugin', () => {
  /** A copy of the plugin as Claude Code makes it: nothing outside of its directory comes along. */
  const install = (dir: string): StdioServerParameters => {
    const { plugins } = readJson('.claude-plugin/marketplace.json') as { plugins: [{ source: string }] };
    const root = join(dir, 'cache/countersign');
    cpSync(plugins[0].source, root, { recursive: true });
    const { mcpServers } = readJson(join(root, '.mcp.json')) as {
      mcpServers: { countersign: { command: string; args: string[] } };
    };
    const { command, args } = mcpServers.countersign;
    return {
      command,
      args: args.map((arg) => arg.replace(/\$\{CLAUDE_PLUGIN_ROOT\}/g, root)),
      env: { PATH: process.env.PATH ?? '', HOME: dir, COUNTERSIGN_LOG__LEVEL: 'warn' },
      cwd: dir,
    };
  };
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'countersign-plugin-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('starts the program that was built in the clone, from where it is copied to', async () => {
    const client = new Client({ name: 'claude-code', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ ...install(dir), stderr: 'inherit' }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('x_post_tweet');
    await client.close();
  });

  it.each([
    ['it was installed before a build', (file: string) => rmSync(file), 'before a build'],
    [
      'the clone has moved',
      (file: string) => writeFileSync(file, '{"program":"/nowhere/main.js"}'),
      '/nowhere/main.js does not exist',
    ],
  ])('says what to do where %s', (_, change, message) => {
    const { command, args = [], env } = install(dir);
    change(join(dir, 'cache/countersign/program.json'));
    const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).toContain('npm ci && npm run build');
  });
});

/** Unpacks as a client does: into a folder of its own, with no other way to find a package. */
async function unzip(file: string, folder: string): Promise<void> {
  const zip = await yauzl.openPromise(file);
  for await (const entry of zip.eachEntry()) {
    const target = join(folder, entry.fileName);
    mkdirSync(dirname(target), { recursive: true });
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target));
  }
}

describe('the MCPB bundle', () => {
  it('runs from where it is unpacked, as its manifest says', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'countersign-mcpb-'));
    try {
      const made = execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/bundle.ts', dir], {
        encoding: 'utf8',
      });
      const [file = ''] = made.split(' ');
      await unzip(file, join(dir, 'unpacked'));
      const manifest = readJson(join(dir, 'unpacked/manifest.json')) as {
        server: { entry_point: string; mcp_config: { args: string[]; env: Record<string, string> } };
        compatibility: { platforms: string[] };
      };
      expect(problemsOf(manifest, 'mcpb-manifest-0.3.json')).toEqual([]);
      expect(manifest.compatibility.platforms).toEqual([process.platform]);
      expect(existsSync(join(dir, 'unpacked', manifest.server.entry_point))).toBe(true);

      const values: Record<string, string> = {
        __dirname: join(dir, 'unpacked'),
        'user_config.home': join(dir, 'home'),
      };
      const filled = (text: string): string =>
        text.replace(/\$\{([^}]+)\}/g, (_, name: string) => values[name] ?? 'unknown');
      const { args, env } = manifest.server.mcp_config;
      const client = new Client({ name: 'desktop', version: '1.0.0' });
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: args.map(filled),
          env: {
            ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)])),
            HOME: dir,
            COUNTERSIGN_LOG__LEVEL: 'warn',
          },
          stderr: 'inherit',
        }),
      );
      const { structuredContent } = await client.callTool({
        name: 'x_post_tweet',
        arguments: { text: 'From the bundle' },
      });
      expect(structuredContent).toMatchObject({ data: { routed_to_approval: true } });
      expect(existsSync(join(dir, 'home/countersign.db'))).toBe(true);
      await client.close();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('the Dockerfile', () => {
  const instructions = readFileSync('Dockerfile', 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }));
  const final = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const only = (name: string): string => {
    const found = final.filter((one) => one.name === name);
    expect(found, name).toHaveLength(1);
    return found[0]?.rest ?? '';
  };

  it('has only known instructions, pinned images, and copies what exists', () => {
    const known = [
      'FROM',
      'WORKDIR',
      'COPY',
      'RUN',
      'ENV',
      'VOLUME',
      'USER',
      'EXPOSE',
      'HEALTHCHECK',
      'ENTRYPOINT',
      'CMD',
    ];
    expect(instructions.filter(({ name }) => !known.includes(name))).toEqual([]);
    for (const { name, rest } of instructions) {
      if (name === 'FROM') expect(rest).toMatch(/^node:(2\d)-[a-z]+-slim( AS [a-z]+)?$/);
      if (name !== 'COPY') continue;
      for (const path of rest.split(' ').slice(0, -1)) expect(existsSync(path), path).toBe(true);
    }
  });

  it('runs as an ordinary user on a volume of its own, and starts a command that exists', () => {
    expect(only('USER')).not.toMatch(/^(root|0)\b/);
    const home = /COUNTERSIGN_HOME=(\S+)/.exec(only('ENV'))?.[1];
    expect(JSON.parse(only('VOLUME'))).toEqual([home]);
    expect(
      final.some(({ name, rest }) => name === 'RUN' && rest.includes(`-o node -g node -m 700 ${home}`)),
    ).toBe(true);
    expect(JSON.parse(only('ENTRYPOINT'))).toEqual(['countersign']);
    const [command, ...rest] = JSON.parse(only('CMD')) as string[];
    const up = createProgram().commands.find((one) => one.name() === command);
    for (const flag of rest.filter((word) => word.startsWith('-')))
      expect(up?.options.map(({ long }) => long)).toContain(flag);
    expect(only('EXPOSE')).toBe('8765');
  });

  it('has a health check that passes while the server runs, and fails without one', async () => {
    const [command = '', ...args] = JSON.parse(only('HEALTHCHECK').replace(/^.*?CMD /, '')) as string[];
    expect(command).toBe('node');
    const home = createHome('toolkits = ["x"]\n');
    const server = await startUp(home);
    const env = { ...process.env, COUNTERSIGN_SERVER__PORT: new URL(server.url).port };
    expect(spawnSync(process.execPath, args, { env }).status).toBe(0);
    await server.stop();
    expect(spawnSync(process.execPath, args, { env }).status).toBe(1);
    home.close();
  });
});
