import { childOf, childrenOf, type XmlElement } from '../xml.ts';
import type {
  RefiArea,
  RefiClip,
  RefiCoding,
  RefiMade,
  RefiSelection,
  RefiText,
  RefiTextSelection,
  RefiValue,
  RefiVariableType,
} from './model.ts';

export function readText(source: XmlElement): RefiText {
  const { plainTextPath, richTextPath } = source.attributes;
  const content = childOf(source, 'PlainTextContent');
  return {
    guid: guidOf(source),
    name: source.attributes.name ?? '',
    description: textIn(source, 'Description'),
    ...(content ? { content: content.text } : {}),
    ...(plainTextPath ? { plainTextPath } : {}),
    ...(richTextPath ? { richTextPath } : {}),
    ...made(source),
    selections: childrenOf(source, 'PlainTextSelection').map(readTextSelection),
    codings: childrenOf(source, 'Coding').map(readCoding),
    noteRefs: refs(source, 'NoteRef'),
    values: readValues(source),
  };
}

const readTextSelection = (item: XmlElement): RefiTextSelection => ({
  ...readSelection(item),
  start: number(item, 'startPosition'),
  end: number(item, 'endPosition'),
});

export const readArea = (item: XmlElement): RefiArea => ({
  ...readSelection(item),
  ...(item.attributes.page === undefined ? {} : { page: number(item, 'page') }),
  firstX: number(item, 'firstX'),
  firstY: number(item, 'firstY'),
  secondX: number(item, 'secondX'),
  secondY: number(item, 'secondY'),
});

export const readClip = (item: XmlElement): RefiClip => ({
  ...readSelection(item),
  begin: number(item, 'begin'),
  end: number(item, 'end'),
});

export const readSelection = (item: XmlElement): RefiSelection => ({
  guid: guidOf(item),
  name: item.attributes.name ?? '',
  description: textIn(item, 'Description'),
  ...made(item),
  codings: childrenOf(item, 'Coding').map(readCoding),
  noteRefs: refs(item, 'NoteRef'),
});

export const readCoding = (item: XmlElement): RefiCoding => ({
  guid: guidOf(item),
  code: refs(item, 'CodeRef')[0] ?? '',
  noteRefs: refs(item, 'NoteRef'),
  ...made(item),
});

export function readValues(item: XmlElement): RefiValue[] {
  return childrenOf(item, 'VariableValue').flatMap((value) => {
    const held = value.children.find((child) => child.name.endsWith('Value'));
    const variable = refs(value, 'VariableRef')[0];
    if (!held || variable === undefined) return [];
    return [{ variable, type: variableType(held.name.replace(/Value$/, '')), value: held.text }];
  });
}

export function made(item: XmlElement): RefiMade {
  const user = item.attributes.creatingUser ?? item.attributes.creatingUserGUID;
  const date = item.attributes.creationDateTime;
  return { ...(user ? { user: normalGuid(user) } : {}), ...(date ? { date } : {}) };
}

const VARIABLE_TYPES: readonly RefiVariableType[] = [
  'Text',
  'Boolean',
  'Integer',
  'Float',
  'Date',
  'DateTime',
];
export const variableType = (name: string | undefined): RefiVariableType =>
  VARIABLE_TYPES.find((type) => type === name) ?? 'Text';

export const textIn = (item: XmlElement, name: string): string => childOf(item, name)?.text ?? '';
export const refs = (item: XmlElement, name: string): string[] =>
  childrenOf(item, name).map((ref) => normalGuid(ref.attributes.targetGUID ?? ref.attributes.guid));
export const guidOf = (item: XmlElement): string => normalGuid(item.attributes.guid);
/** Braces and capitals differ between a definition and its references in real files. */
export const normalGuid = (guid: string | undefined): string =>
  (guid ?? '')
    .trim()
    .replace(/^\{|\}$/g, '')
    .toLowerCase();
const number = (item: XmlElement, name: string): number => Number(item.attributes[name] ?? Number.NaN);
