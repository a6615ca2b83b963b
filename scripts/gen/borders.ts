import { readFileSync } from 'node:fs';

interface Part {
  readonly part: string;
  readonly imports: readonly string[];
  readonly typesOf?: readonly string[];
  readonly what: string;
}

const START = '<!-- gen:borders -->';
const END = '<!-- /gen:borders -->';

/** ARCHITECTURE.md with the table of parts rendered from src/borders.json. */
export function architecturePage(): string {
  const page = readFileSync('ARCHITECTURE.md', 'utf8');
  const { parts } = JSON.parse(readFileSync('src/borders.json', 'utf8')) as {
    readonly parts: readonly Part[];
  };
  const [head, rest = ''] = page.split(START);
  const [, tail = ''] = rest.split(END);
  const rows = parts.map(
    ({ part, what, imports, typesOf }) => `| \`${part}\` | ${what} | ${allowed(imports, typesOf)} |`,
  );
  return `${head}${START}\n| Part of src | What is in it | May import |\n|---|---|---|\n${rows.join('\n')}\n${END}${tail}`;
}

function allowed(imports: readonly string[], typesOf: readonly string[] = []): string {
  if (imports.includes('*')) return 'anything; nothing imports it';
  const names = imports.map((name) => (name === 'own' ? 'its own folder' : `\`${name}\``));
  const types = typesOf.map((name) => `types of \`${name}\``);
  return [...names, ...types].join(', ') || 'nothing';
}
