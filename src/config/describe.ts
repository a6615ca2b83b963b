import type { ConfigSection } from '../contract/config.ts';
import { lookup } from '../lib/lookup.ts';
import { coreSections, topLevel } from './fields.ts';
import { type Shape, shapeOf, variantsOf } from './shape.ts';

export interface FieldDescription {
  /** `server.port`; fields of a list's entries stand under `mcp_policy.rules[].id`. */
  readonly path: string;
  readonly type: string;
  readonly default: unknown;
  readonly required: boolean;
  /** The environment variable; entries of lists have none of their own. */
  readonly env: string | undefined;
  readonly doc: string;
  readonly secret: boolean;
}

export interface SectionDescription {
  /** Empty for the keys above the first table. */
  readonly key: string;
  readonly doc: string;
  readonly fields: readonly FieldDescription[];
}

/** Every field there is, for help, documentation and pins. */
export function describeConfig(sections: readonly ConfigSection[]): readonly SectionDescription[] {
  return [topLevel, ...coreSections, ...sections].map((section) => ({
    key: section.key,
    doc: section.doc,
    fields: describeSection(section),
  }));
}

export function describeSection(section: ConfigSection): readonly FieldDescription[] {
  const shape = shapeOf(section);
  const { additionalProperties: entry } = shape;
  const named = typeof entry === 'object' ? describeFields(entry, `${section.key}.NAME`) : [];
  return [...describeFields(shape, section.key), ...named];
}

export const envName = (path: readonly string[]): string =>
  `COUNTERSIGN_${path.map((part) => part.toUpperCase()).join('__')}`;

function describeFields(shape: Shape, prefix: string): FieldDescription[] {
  return Object.entries(shape.properties ?? {}).flatMap(([key, field]) => {
    const path = prefix ? `${prefix}.${key}` : key;
    if (field.properties) return describeFields(field, path);
    const entry =
      field.items ??
      (typeof field.additionalProperties === 'object' ? field.additionalProperties : undefined);
    const inner = entry?.properties ? describeFields(entry, field.items ? `${path}[]` : `${path}.NAME`) : [];
    return [
      {
        path,
        type: typeName(field),
        default: field.default,
        required: shape.required?.includes(key) ?? false,
        env: /\[\]|\.NAME/.test(path) ? undefined : envName(path.split('.')),
        doc: field.description ?? '',
        secret: field.secret ?? false,
      },
      ...inner,
    ];
  });
}

function typeName(shape: Shape): string {
  if (shape.enum) return shape.enum.map((option) => JSON.stringify(option)).join(' | ');
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  const variants = variantsOf(shape);
  if (variants.length > 0) return variants.map(typeName).join(' | ');
  if (shape.type === 'array')
    return shape.items?.properties ? 'list of tables' : `list of ${typeName(shape.items ?? {})}`;
  return lookup(TYPES, shape.type ?? '') ?? 'any';
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'true or false',
  object: 'table',
};
