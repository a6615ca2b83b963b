import type { AttributeScope, ProjectWriter } from '../../project/types.ts';
import { type ExchangeReport, freeName } from '../report.ts';
import type { ImportContext } from './import-context.ts';
import type { RefiCode, RefiValue, RefiVariable } from './model.ts';

const FALLBACK_COLOR = '#808080';
/** Sub-codes came with this version of QualCoder's file. */
const SUB_CODES_SINCE = 16;

export interface CodeImport {
  readonly project: ProjectWriter;
  readonly report: ExchangeReport;
  /** Text of the notes a code refers to, to go into its memo. */
  readonly notes: (code: RefiCode) => string;
}

/** Adds a tree of codes and gives the id of each codable one by guid. Codes and categories that exist by name are used as they are. */
export function importCodes(
  codes: readonly RefiCode[],
  { project, report, notes }: CodeImport,
): { readonly ids: Map<string, number>; readonly added: number } {
  const ids = new Map<string, number>();
  const existing = new Map(project.codes().map(({ name, id }) => [name, id]));
  const categories = new Map(project.categories().map(({ name, id }) => [name, id]));
  const mine = new Set<string>();
  const hasSubCodes = project.info().version >= SUB_CODES_SINCE;
  let added = 0;

  const memoOf = (code: RefiCode) => [code.description, notes(code)].filter(Boolean).join('\n\n');

  const nameOf = (code: RefiCode, what: string) => {
    const name = code.name.replace(/\s+/g, ' ').trim().slice(0, 255);
    if (name) return name;
    report.repaired(`Named a ${what} that had no name`, code.guid);
    return 'Unnamed';
  };

  const addCategory = (code: RefiCode, parentId: number | null): number => {
    const wanted = nameOf(code, 'category');
    const known = categories.get(wanted);
    if (known !== undefined && !mine.has(`category ${wanted}`)) {
      report.repaired('Used a category that the project already has', wanted);
      mine.add(`category ${wanted}`);
      return known;
    }
    const name = freeName(wanted, (other) => categories.has(other));
    if (name !== wanted) report.repaired('Renamed a category, as names must differ', wanted);
    const id = project.addCategory({ name, memo: memoOf(code), parentId });
    categories.set(name, id);
    mine.add(`category ${name}`);
    return id;
  };

  const addCode = (
    code: RefiCode,
    place: { categoryId: number | null } | { parentId: number },
    memo: string,
  ): number => {
    const wanted = nameOf(code, 'code');
    const known = existing.get(wanted);
    if (known !== undefined && !mine.has(`code ${wanted}`)) {
      report.repaired('Used a code that the project already has', wanted);
      mine.add(`code ${wanted}`);
      ids.set(code.guid, known);
      return known;
    }
    const name = freeName(wanted, (other) => existing.has(other));
    if (name !== wanted) report.repaired('Renamed a code, as names must differ', wanted);
    const id = project.addCode({ name, memo, color: colorOf(code, report), ...place });
    existing.set(name, id);
    mine.add(`code ${name}`);
    ids.set(code.guid, id);
    added += 1;
    return id;
  };

  const visit = (code: RefiCode, categoryId: number | null): void => {
    if (!code.isCodable) {
      const id = addCategory(code, categoryId);
      for (const child of code.children) visit(child, id);
    } else if (code.children.length === 0) {
      addCode(code, { categoryId }, memoOf(code));
    } else if (hasSubCodes && allCodable(code)) {
      visitSub(code, { categoryId });
    } else {
      // QualCoder keeps codes and categories apart: such a code becomes both, and nothing is lost.
      report.repaired('Turned a code with sub-codes into a category that contains the code', code.name);
      const id = addCategory({ ...code, description: '', noteRefs: [] }, categoryId);
      addCode(code, { categoryId: id }, memoOf(code));
      for (const child of code.children) visit(child, id);
    }
  };

  const visitSub = (code: RefiCode, place: { categoryId: number | null } | { parentId: number }): void => {
    const id = addCode(code, place, memoOf(code));
    for (const child of code.children) visitSub(child, { parentId: id });
  };

  for (const code of codes) visit(code, null);
  return { ids, added };
}

const allCodable = (code: RefiCode): boolean =>
  code.children.every((child) => child.isCodable && allCodable(child));

function colorOf(code: RefiCode, report: ExchangeReport): string {
  const color = code.color?.trim() ?? '';
  if (/^#([0-9a-f]{6}|[0-9a-f]{3})$/i.test(color)) return color;
  if (color) report.repaired('Set the color of a code to grey, as its own is unreadable', code.name);
  return FALLBACK_COLOR;
}

/** Variables become attributes of cases or files, whichever they are used on; QualCoder wants a name to serve only one of them. */
export function importVariables(context: ImportContext): void {
  const { project, refi, report } = context;
  const holders: { scope: AttributeScope; targetId: number | undefined; values: readonly RefiValue[] }[] = [
    ...refi.cases.map((item) => ({
      scope: 'case' as const,
      targetId: context.cases.get(item.guid),
      values: item.values,
    })),
    ...refi.sources.map((item) => ({
      scope: 'file' as const,
      targetId: context.sources.get(item.guid),
      values: item.values,
    })),
    ...refi.notes.map((item) => ({
      scope: 'journal' as const,
      targetId: context.journals.get(item.guid),
      values: item.values,
    })),
  ];
  const names = new Map<string, string>();
  const nameFor = (variable: RefiVariable, scope: AttributeScope): string => {
    const key = `${variable.guid} ${scope}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    const wanted = variable.name.replace(/\s+/g, ' ').trim().slice(0, 200) || 'Unnamed variable';
    const clashes = (name: string) =>
      project.attributeTypes().some((type) => type.name === name && type.scope !== scope);
    const name = clashes(wanted) ? `${wanted} (${scope})` : wanted;
    if (name !== wanted)
      report.repaired('Renamed an attribute, as its name is used for something else', wanted);
    const valueType = variable.type === 'Integer' || variable.type === 'Float' ? 'numeric' : 'character';
    project.addAttributeType({ name, scope, valueType, memo: variable.description });
    names.set(key, name);
    return name;
  };
  const variables = new Map(refi.variables.map((variable) => [variable.guid, variable]));
  for (const variable of refi.variables) {
    const scopes = new Set(
      holders
        .filter(({ values }) => values.some((value) => value.variable === variable.guid))
        .map(({ scope }) => scope),
    );
    for (const scope of scopes.size ? scopes : (['case'] as const)) nameFor(variable, scope);
  }
  for (const { scope, targetId, values } of holders) {
    for (const { variable: guid, value } of values) {
      const variable = variables.get(guid);
      if (!variable || targetId === undefined)
        report.lost('Omitted a value of an attribute that is not in the file');
      else if (value !== '') project.setAttribute({ name: nameFor(variable, scope), scope, targetId, value });
    }
  }
}
