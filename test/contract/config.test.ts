import { expect, it } from 'vitest';
import { coreSections, topLevel } from '../../src/config/fields.ts';
import { toolkitEntries } from '../../src/toolkits/index.generated.ts';

const sections = [topLevel, ...coreSections, ...toolkitEntries.flatMap((entry) => entry.sections)];

it.each(sections.map((section) => [section.key || 'above the first table', section] as const))(
  'the section %s needs nothing written: it is read only on first use, too late to printStderr',
  (_key, section) => {
    expect(section.schema.safeParse({}).error?.issues).toBeUndefined();
    expect(section.schema).toBe(section.schema);
  },
);
