import type * as qda from '../../project/types.ts';
import type { RefiValue, RefiVariable, RefiVariableType } from './model.ts';

const INTEGER = /^[+-]?\d{1,15}$/;
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)$/;

/** Attributes as variables. A numeric attribute with a value that is no number is written as text, as the schema demands numbers. */
export function variableTypes(
  project: qda.ProjectReader,
  guid: (kind: string, id: number | string) => string,
): { variables: RefiVariable[]; valuesOf: (scope: qda.AttributeScope, targetId: number) => RefiValue[] } {
  const attributes = project.attributes();
  const types = project.attributeTypes();
  const key = (name: string, scope: string) => guid('variable', `${scope}\n${name}`);
  const typeOf = new Map<string, RefiVariableType>();
  for (const { name, scope, valueType } of types) {
    const values = attributes
      .filter((item) => item.name === name && item.scope === scope)
      .map(({ value }) => value.trim())
      .filter(Boolean);
    typeOf.set(key(name, scope), valueType === 'numeric' ? numberType(values) : 'Text');
  }
  return {
    variables: types.map(({ name, scope, memo }) => ({
      guid: key(name, scope),
      name,
      type: typeOf.get(key(name, scope)) ?? 'Text',
      description: memo,
    })),
    valuesOf: (scope, targetId) =>
      attributes
        .filter(
          (item) =>
            item.scope === scope &&
            item.targetId === targetId &&
            item.value !== '' &&
            typeOf.has(key(item.name, scope)),
        )
        .map(({ name, value }) => {
          const type = typeOf.get(key(name, scope)) ?? 'Text';
          return { variable: key(name, scope), type, value: type === 'Text' ? value : value.trim() };
        }),
  };
}

function numberType(values: readonly string[]): RefiVariableType {
  if (values.every((value) => INTEGER.test(value))) return 'Integer';
  return values.every((value) => DECIMAL.test(value)) ? 'Float' : 'Text';
}
