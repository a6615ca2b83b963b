import type { AttributeScope } from '../../project/types.ts';
import type { ImportContext } from './import-context.ts';
import type { RefiValue, RefiVariable } from './model.ts';

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
      report.repaired('Gave an attribute another name, as its name is used for something else', wanted);
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
        report.lost('Left out a value of an attribute that is not in the file');
      else if (value !== '') project.setAttribute({ name: nameFor(variable, scope), scope, targetId, value });
    }
  }
}
