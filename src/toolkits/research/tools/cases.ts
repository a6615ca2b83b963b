import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { READ_PROFILES } from '../../../contract/tool.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import type { Coding } from '../project/types.ts';
import { matches, placesOfCases, requireAttribute } from '../retrieval/groups.ts';
import { defineResearchTool } from '../services.ts';
import { openSession } from '../session.ts';
import { attributeFilter, id, page, pageOf } from './shapes.ts';

const attributeShape = z.object({ name: z.string(), value: z.string() });

export const listCases = defineResearchTool({
  name: 'list_cases',
  title: 'List cases',
  summary:
    'List cases with their attribute values, sources and number of segments; filter by attribute values.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  errors: ['no_project', 'not_found'],
  input: z.object({ attributes: attributeFilter(), ...page }),
  output: z.object({
    total: z.int(),
    has_more: z.boolean(),
    cases: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        memo: z.string(),
        attributes: z.array(attributeShape),
        sources: z.array(z.object({ id: z.int(), name: z.string() })),
        segment_count: z.int(),
      }),
    ),
  }),

  async run({ attributes = [], limit, offset }, context) {
    const { lens } = await openSession(context, 'all');
    const { reader } = lens;
    for (const { name } of attributes) requireAttribute(reader, name, 'case');
    const values = valuesOf(lens, 'case');
    const codings = reader.codings();
    const found = reader.cases().filter(({ id: of }) => {
      const own = values.get(of) ?? [];
      return attributes.every((wanted) =>
        own.some(({ name, value }) => name === wanted.name && matches(value, wanted)),
      );
    });
    const names = new Map(reader.sources().map((source) => [source.id, lens.mask(source.name)]));
    const texts = reader.caseTexts();
    const shown = pageOf(found, limit, offset);
    return {
      total: found.length,
      has_more: offset + shown.length < found.length,
      cases: shown.map((item) => {
        const own = texts.filter(({ caseId }) => caseId === item.id);
        const belongs = placesOfCases(reader, new Set([item.id]));
        return {
          id: item.id,
          name: lens.mask(item.name),
          memo: lens.mask(item.memo),
          attributes: (values.get(item.id) ?? []).map(({ name, value }) => ({
            name,
            value: lens.mask(value),
          })),
          sources: [...new Set(own.map(({ sourceId }) => sourceId))].map((source) => ({
            id: source,
            name: names.get(source) ?? '',
          })),
          segment_count: codings.filter(belongs).length,
        };
      }),
    };
  },
});

export const listAttributes = defineResearchTool({
  name: 'list_attributes',
  title: 'List attributes',
  summary: 'List the attributes of cases and sources with the values they take and how often.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  errors: ['no_project'],
  input: z.object({}),
  output: z.object({
    attributes: z.array(
      z.object({
        name: z.string(),
        applies_to: z.enum(['case', 'file', 'journal']),
        type: z.enum(['character', 'numeric']),
        memo: z.string(),
        values: z.array(z.object({ value: z.string(), count: z.int() })),
      }),
    ),
  }),

  async run(_, context) {
    const { lens } = await openSession(context, 'all');
    const all = lens.reader.attributes();
    return {
      attributes: lens.reader.attributeTypes().map((type) => {
        const counts = new Map<string, number>();
        for (const { name, scope, value } of all)
          if (name === type.name && scope === type.scope && value !== '')
            counts.set(value, (counts.get(value) ?? 0) + 1);
        return {
          name: lens.mask(type.name),
          applies_to: type.scope,
          type: type.valueType,
          memo: lens.mask(type.memo),
          values: [...counts].map(([value, count]) => ({ value: lens.mask(value), count })),
        };
      }),
    };
  },
});

export const compareGroups = defineResearchTool({
  name: 'compare_groups',
  title: 'Compare groups by an attribute',
  summary:
    'Compare how often codes occur in groups of cases or sources that an attribute forms, such as by gender.',
  effect: 'read',
  reach: 'local',
  category: 'analysis',
  profiles: READ_PROFILES,
  errors: ['no_project', 'not_found', 'code_not_found', 'validation_error'],
  input: z.object({ attribute: z.string(), code_ids: z.array(id()).optional() }),
  output: z.object({
    attribute: z.string(),
    applies_to: z.string(),
    groups: z.array(z.object({ value: z.string(), members: z.int(), segments: z.int() })),
    codes: z.array(
      z.object({
        code_id: z.int(),
        code_name: z.string(),
        groups: z.array(
          z.object({
            value: z.string(),
            segments: z.int(),
            members_with_code: z.int(),
            share_of_members: z.number().describe('0 to 1'),
          }),
        ),
      }),
    ),
  }),

  async run({ attribute, code_ids }, context) {
    const { lens } = await openSession(context, 'all');
    const { reader } = lens;
    const { scope } = requireAttribute(reader, attribute);
    if (scope === 'journal')
      throw new ToolError(
        'validation_error',
        `"${attribute}" is an attribute of journals, which have no codes.`,
      );
    const codes = reader.codes().filter(({ id: code }) => code_ids === undefined || code_ids.includes(code));
    const groups = groupsOf(lens, attribute, scope);
    const codings = reader.codings();
    const members = groups.map(({ value, targets }) => ({
      value: lens.mask(value),
      members: targets.map((target) => codingsOf(lens, scope, target, codings)),
    }));
    return {
      attribute,
      applies_to: scope,
      groups: members.map(({ value, members: own }) => ({
        value,
        members: own.length,
        segments: own.flat().length,
      })),
      codes: codes.map((code) => ({
        code_id: code.id,
        code_name: lens.mask(code.name),
        groups: members.map(({ value, members: own }) => {
          const counts = own.map((list) => list.filter(({ codeId }) => codeId === code.id).length);
          const using = counts.filter((count) => count > 0).length;
          return {
            value,
            segments: counts.reduce((sum, count) => sum + count, 0),
            members_with_code: using,
            share_of_members: own.length === 0 ? 0 : Math.round((1000 * using) / own.length) / 1000,
          };
        }),
      })),
    };
  },
});

function valuesOf({ reader }: PrivacyView, scope: 'case' | 'file') {
  const values = new Map<number, { name: string; value: string }[]>();
  for (const item of reader.attributes())
    if (item.scope === scope && item.value !== '')
      values.set(item.targetId, [
        ...(values.get(item.targetId) ?? []),
        { name: item.name, value: item.value },
      ]);
  return values;
}

function groupsOf({ reader }: PrivacyView, attribute: string, scope: 'case' | 'file') {
  const groups = new Map<string, number[]>();
  for (const { name, scope: of, value, targetId } of reader.attributes())
    if (name === attribute && of === scope && value !== '')
      groups.set(value, [...(groups.get(value) ?? []), targetId]);
  return [...groups].map(([value, targets]) => ({ value, targets }));
}

function codingsOf(
  { reader }: PrivacyView,
  scope: 'case' | 'file',
  target: number,
  codings: readonly Coding[],
): Coding[] {
  if (scope === 'file') return codings.filter(({ sourceId }) => sourceId === target);
  return codings.filter(placesOfCases(reader, new Set([target])));
}
