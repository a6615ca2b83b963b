import { describeConfig } from '../../src/config/describe.ts';
import type { ConfigSection } from '../../src/contract/config.ts';
import { errorCodes, findErrorSpec } from '../../src/contract/errors.ts';
import type { Tool } from '../../src/contract/tool.ts';
import type { Toolkit } from '../../src/contract/toolkit.ts';

const HEAD = '<!-- Written by `npm run gen`. Do not edit. -->\n\n';
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** One page per toolkit: every tool with its arguments. */
export function toolkitPage(toolkit: Toolkit): string {
  const listed = toolkit.tools.filter(({ profiles }) => profiles.length > 0);
  const own = toolkit.tools.filter(({ profiles }) => profiles.length === 0);
  const overview = listed.map(
    (tool) => `| [\`${tool.name}\`](#${tool.name}) | ${tool.effect} | ${cell(tool.summary)} |`,
  );
  return [
    `${HEAD}# Toolkit ${toolkit.id}: ${toolkit.title}\n`,
    '| Tool | Effect | What it does |\n|---|---|---|',
    ...overview,
    '',
    ...listed.map(toolSection),
    ...(own.length > 0
      ? [
          '## For people only\n',
          'Never listed to agents; the command line and the web app use them.\n',
          ...own.map(toolSection),
        ]
      : []),
  ].join('\n');
}

function toolSection(tool: Tool): string {
  const rows = argumentRows(tool.input.json as Property);
  const lines = [
    `### ${tool.name}\n`,
    `${tool.summary}\n`,
    `Effect: ${tool.effect}. Category: ${tool.category}.${tool.policyName ? ` Policy name: \`${tool.policyName}\`.` : ''} Profiles: ${tool.profiles.join(', ') || 'none'}.\n`,
  ];
  if (rows.length > 0) lines.push('| Argument | Type | Required | Meaning |\n|---|---|---|---|', ...rows, '');
  if (tool.errors.length > 0)
    lines.push(
      `Errors: ${[...tool.errors]
        .sort()
        .map((code) => `\`${code}\``)
        .join(', ')}.\n`,
    );
  return lines.join('\n');
}

/** A field of an object inside an argument follows it under the name a fault would give: `files[].path`. */
function argumentRows({ properties = {}, required = [] }: Property, inside = ''): string[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const path = `${inside}${name}`;
    const row = `| \`${path}\` | ${cell(typeOf(property))} | ${required.includes(name) ? 'yes' : 'no'} | ${cell(property.description ?? '')} |`;
    return [row, ...shapesIn(property, path).flatMap(([shape, at]) => argumentRows(shape, `${at}.`))];
  });
}

/** The objects a value may be or hold, each with where it stands. */
function shapesIn(property: Property, path: string): [shape: Property, path: string][] {
  const { items, anyOf = [] } = property;
  return [
    ...(property.properties ? [[property, path] as [Property, string]] : []),
    ...(items ? shapesIn(items, `${path}[]`) : []),
    ...anyOf.flatMap((one) => shapesIn(one, path)),
  ];
}

interface Property {
  readonly properties?: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
  readonly type?: string | string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Property;
  readonly default?: unknown;
  readonly anyOf?: readonly Property[];
}

function typeOf({ type, enum: values, items, default: fallback, anyOf }: Property): string {
  const base = values
    ? values.map((one) => JSON.stringify(one)).join(' or ')
    : anyOf
      ? anyOf.map(typeOf).join(' or ')
      : type === 'array'
        ? `array of ${items ? typeOf(items) : 'anything'}`
        : String(type ?? 'anything');
  return fallback === undefined ? base : `${base} (default ${JSON.stringify(fallback)})`;
}

export function errorsPage(): string {
  const rows = errorCodes().map((code) => {
    const spec = findErrorSpec(code);
    return `| \`${code}\` | ${spec?.retryable ? 'yes' : 'no'} | ${cell(spec?.hint ?? '')} |`;
  });
  return `${HEAD}# Errors\n\nEvery error a call can return. Each toolkit's envelope has its own form: the \`x\` toolkit uses its 28 documented codes, the \`research\` toolkit upper-case ones.\n\n| Code | Retryable | What to do |\n|---|---|---|\n${rows.join('\n')}\n`;
}

export function configurationPage(sections: readonly ConfigSection[]): string {
  const parts = describeConfig(sections).map(({ key, doc, fields }) => {
    const rows = fields.map(
      (field) =>
        `| \`${field.path}\` | ${cell(field.type)} | ${cell(field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``)} | ${field.env === undefined ? '' : `\`${field.env}\``} | ${cell(field.doc)}${field.secret ? ' Secret.' : ''} |`,
    );
    return `## ${key ? `[${key}]` : 'Top level'}\n\n${doc}\n\n| Key | Type | Default | Environment | Meaning |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `${HEAD}# Configuration\n\n\`~/.countersign/config.toml\`, or the file given with \`-c\`. Read at start: defaults, then the file, then the environment, then flags.\n\n${parts.join('\n')}`;
}
