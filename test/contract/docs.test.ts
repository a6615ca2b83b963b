import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { openTerminal } from '../cli/support.ts';

const SKIPPED = new Set(['node_modules', 'dist', 'coverage']);

const documentsUnder = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return SKIPPED.has(entry.name) || entry.name.startsWith('.') ? [] : documentsUnder(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });

const documents = documentsUnder('.');
const byHand = documents.filter((path) => path === 'README.md' || dirname(path) === join('docs', 'guides'));
const FENCE = /^([ \t]*)(```+|~~~+)([^\n]*)\n([\s\S]*?)^[ \t]*\2[ \t]*$/gm;

interface Block {
  readonly language: string;
  readonly body: string;
}

const blocksOf = (text: string): Block[] =>
  [...text.matchAll(FENCE)].map(([, indent = '', , language = '', body = '']) => ({
    language: language.trim(),
    body: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));

/** Headings as GitHub makes anchors of them. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replace(FENCE, '').matchAll(/^#{1,6}[ \t]+(.+?)[ \t]*#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  for (const [, id = ''] of text.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

const linksOf = (path: string): string[] => {
  // Link texts may be code, so inline code stays here; fenced blocks are no links.
  const text = readFileSync(path, 'utf8').replace(FENCE, '');
  const inline = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const defined = [...text.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)];
  const tags = [...text.matchAll(/(?:src|href)="([^"]+)"/g)];
  return [...inline, ...defined, ...tags].map(([, target]) => target ?? '');
};

function brokenLink(path: string, link: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return undefined;
  const [file = '', anchor] = decodeURI(link).split('#');
  const target = file === '' ? path : normalize(join(dirname(path), file));
  if (!existsSync(target)) return `${path}: ${link} does not exist`;
  if (!anchor || statSync(target).isDirectory() || !target.endsWith('.md')) return undefined;
  return anchorsOf(readFileSync(target, 'utf8')).has(anchor)
    ? undefined
    : `${path}: ${link} names no heading of ${target}`;
}

/** Lines of shell blocks that call the program, continued lines joined. Output and settings are not commands. */
const commandsIn = (text: string): string[] =>
  blocksOf(text)
    .filter(({ language }) => /^(sh|bash|shell|console)$/.test(language))
    .flatMap(({ language, body }) =>
      body
        .replaceAll('\\\n', ' ')
        .split('\n')
        .map((line) => (language === 'console' ? (/^(?:\S+ )?\$ (.*)$/.exec(line)?.[1] ?? '') : line)),
    )
    .map((line) => /^\s*countersign\s+(.*)$/.exec(line)?.[1] ?? '')
    .filter(Boolean);

/** What a shell makes of one plain line. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );

/** Commands named in running text: whole ones in code spans, and what printed answers advise. */
const mentionsIn = (text: string): string[] => {
  const spans = [...text.replace(FENCE, '').matchAll(/`countersign ([a-z][^`]*)`/g)];
  const advised = blocksOf(text).flatMap(({ body }) => [
    ...body.matchAll(/\bcountersign ([a-z][\w-]*(?: [a-z][\w-]*)*)/g),
  ]);
  return [
    ...spans.map(([, line = '']) => line),
    // Only the first word is surely part of the command; a sentence may follow it.
    ...advised.map(([, line = '']) => line.split(' ')[0] ?? ''),
  ];
};

function unknownCommand(line: string): string | undefined {
  const words = wordsOf(line.replace(/\s+[#|>].*$/, ''));
  const chain: Command[] = [createProgram()];
  const here = (): Command => chain[chain.length - 1] as Command;
  let operands = 0;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (/^-{1,2}[A-Za-z]/.test(word)) {
      const [flag = ''] = word.split('=');
      if (flag === '--help' || flag === '-h') continue;
      const option = chain
        .flatMap(({ options }) => options)
        .find(({ long, short }) => long === flag || short === flag);
      if (!option) return `countersign ${line}: ${here().name()} has no option ${flag}`;
      if ((option.required || option.optional) && !word.includes('=')) index += 1;
      continue;
    }
    const child = here().commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (child && operands === 0) chain.push(child);
    else operands += 1;
  }
  const { registeredArguments: takes, commands } = here();
  if (operands === 0 || takes.some(({ variadic }) => variadic)) return undefined;
  if (operands <= takes.length) return undefined;
  return `countersign ${line}: ${here().name()} ${commands.length > 0 ? 'has no such command' : 'takes fewer words'}`;
}

describe('documents', () => {
  it('link only to files and headings that exist', () => {
    const broken = documents.flatMap((path) => linksOf(path).flatMap((link) => brokenLink(path, link) ?? []));
    expect(broken).toEqual([]);
  });

  it('call only commands and options the program has, in README and guides', () => {
    const lines = byHand.flatMap((path) => commandsIn(readFileSync(path, 'utf8')));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.flatMap((line) => unknownCommand(line) ?? [])).toEqual([]);
  });

  it('speak only of commands the program has', () => {
    const lines = [...byHand, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].flatMap((path) =>
      mentionsIn(readFileSync(path, 'utf8')),
    );
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.flatMap((line) => unknownCommand(line) ?? [])).toEqual([]);
  });

  it('install from the clone or a tarball, never from a registry that does not have the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const read = (path: string): string => readFileSync(path, 'utf8');
    const sources = [
      ...documents,
      ...[
        '.claude-plugin/marketplace.json',
        'distribution/claude-code/.mcp.json',
        'src/app/agent-command.ts',
      ],
    ];
    const fromRegistry =
      /npx (?:-y |--yes )?countersign\b|npm (?:i|install|exec)(?: -\S+)* countersign\b|countersign@\d|install-mcp\?|mcp\/install\?/;
    expect(sources.filter((path) => fromRegistry.test(read(path)))).toEqual([]);
    const tarballs = byHand.flatMap((path) => [...read(path).matchAll(/countersign-(\d[\d.]*)\.tgz/g)]);
    expect(new Set(tarballs.map(([, named]) => named))).toEqual(new Set([version]));
  });

  // Ada is the documents' made-up person; her home is an example.
  it("name no path of a developer's machine", () => {
    const found = documents.flatMap((path) =>
      [
        ...readFileSync(path, 'utf8').matchAll(
          /(?<![\w.~/-])\/(?:home\/(?!ada\b)|Users\/|root\/|work\/|workspace\/|tmp\/)\S*/g,
        ),
      ].map(([text]) => `${path}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});

describe('the check of documents', () => {
  it('sees a missing file and a missing heading', () => {
    expect(brokenLink('README.md', 'docs/nowhere.md')).toBeDefined();
    expect(brokenLink('README.md', 'ARCHITECTURE.md#nowhere')).toBeDefined();
    expect(brokenLink('README.md', 'ARCHITECTURE.md#parts-and-borders')).toBeUndefined();
    expect(brokenLink('README.md', 'https://example.com')).toBeUndefined();
  });

  it('sees an unknown command, option and word', () => {
    expect(unknownCommand('aprovals list')).toBeDefined();
    expect(unknownCommand('approvals aprove 1')).toBeDefined();
    expect(unknownCommand('approvals approve 1 --yes')).toBeDefined();
    expect(unknownCommand('approvals show 1 2')).toBeDefined();
    expect(unknownCommand('-c a.toml policy explain x_get --args \'{"a": 1}\'')).toBeUndefined();
    expect(unknownCommand('approvals approve 1 2 --note "fine by me"')).toBeUndefined();
  });
});

describe('the examples in CONTRIBUTING.md', () => {
  const blocks = blocksOf(readFileSync('CONTRIBUTING.md', 'utf8')).filter(({ language }) =>
    /^tsx?$/.test(language),
  );

  it('are parts of the toolkit that the tests build and use, word for word', () => {
    const differing = blocks.flatMap(({ body }) => {
      const [, file, code = ''] = /^\/\/ src\/toolkits\/notes\/(\S+)\n([\s\S]+)$/.exec(body) ?? [];
      if (file === undefined) return [`No file is named: ${body.split('\n')[0]}`];
      const path = join('test', 'fixtures', 'notes-toolkit', file);
      return existsSync(path) && readFileSync(path, 'utf8').includes(code) ? [] : [path];
    });
    expect(differing).toEqual([]);
    expect(blocks.length).toBeGreaterThan(8);
  });
});

describe('the policy guide', () => {
  it('shows a policy that decides as its own table of cases says, word for word', async () => {
    const blocks = blocksOf(readFileSync(join('docs', 'guides', 'policy.md'), 'utf8'));
    const [config = '', cases = ''] = blocks
      .filter(({ language }) => language === 'toml')
      .map(({ body }) => body);
    const command = '$ countersign policy test cases.toml\n';
    const printed = blocks.find(({ body }) => body.startsWith(command))?.body.slice(command.length);
    const terminal = openTerminal(config);
    try {
      const file = join(terminal.home, 'cases.toml');
      writeFileSync(file, cases);
      expect(await terminal.run('policy', 'test', file)).toEqual({ code: 0, out: printed, err: '' });
    } finally {
      terminal.close();
    }
  });
});

describe('docs/attacks.md', () => {
  const text = readFileSync('docs/attacks.md', 'utf8');
  const files = new Map(
    [...text.matchAll(/`(\w+)` is\s+`([\w./-]+\.test\.ts)`/g)].map(([, name = '', path = '']) => [
      name,
      path,
    ]),
  );
  const rows = text.split('\n').filter((line) => /^\| (?!Attack|---)/.test(line));
  const titlesIn = (path: string): string =>
    readFileSync(path, 'utf8').replaceAll("\\'", "'").replaceAll('’', "'");

  it('cites a test for every attack, by file and name', () => {
    expect(rows.length).toBeGreaterThan(20);
    const wrong = rows.flatMap((row) => {
      const cell = row.split(' | ').at(-1) ?? '';
      const cited = [...cell.matchAll(/(?:`(\w+)`: )?“([^”]+)”/g)];
      let file: string | undefined;
      const missing = cited.filter(([, name, title = '']) => {
        if (name !== undefined) file = files.get(name);
        return file === undefined || !titlesIn(file).includes(`'${title.replaceAll('’', "'")}'`);
      });
      if (cited.length === 0 && !cell.startsWith('No test is possible')) return [`No test: ${row}`];
      return missing.map(([citation]) => citation);
    });
    expect(wrong).toEqual([]);
  });

  it('names only test files that exist', () => {
    const named = [...text.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
    expect(files.size).toBeGreaterThan(4);
  });
});
