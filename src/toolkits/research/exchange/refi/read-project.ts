import { ToolError } from '../../../../contract/errors.ts';
import { lookup } from '../../../../lib/lookup.ts';
import { type DecodedText, decodeText } from '../report.ts';
import { childOf, childrenOf, parseXml, type XmlElement } from '../xml.ts';
import type {
  RefiArea,
  RefiCase,
  RefiClip,
  RefiCode,
  RefiCoding,
  RefiMade,
  RefiMediaSource,
  RefiProject,
  RefiSelection,
  RefiSource,
  RefiText,
  RefiTextSelection,
  RefiValue,
  RefiVariableType,
} from './model.ts';

function readText(source: XmlElement): RefiText {
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

const readArea = (item: XmlElement): RefiArea => ({
  ...readSelection(item),
  ...(item.attributes.page === undefined ? {} : { page: number(item, 'page') }),
  firstX: number(item, 'firstX'),
  firstY: number(item, 'firstY'),
  secondX: number(item, 'secondX'),
  secondY: number(item, 'secondY'),
});

const readClip = (item: XmlElement): RefiClip => ({
  ...readSelection(item),
  begin: number(item, 'begin'),
  end: number(item, 'end'),
});

const readSelection = (item: XmlElement): RefiSelection => ({
  guid: guidOf(item),
  name: item.attributes.name ?? '',
  description: textIn(item, 'Description'),
  ...made(item),
  codings: childrenOf(item, 'Coding').map(readCoding),
  noteRefs: refs(item, 'NoteRef'),
});

const readCoding = (item: XmlElement): RefiCoding => ({
  guid: guidOf(item),
  code: refs(item, 'CodeRef')[0] ?? '',
  noteRefs: refs(item, 'NoteRef'),
  ...made(item),
});

function readValues(item: XmlElement): RefiValue[] {
  return childrenOf(item, 'VariableValue').flatMap((value) => {
    const held = value.children.find((child) => child.name.endsWith('Value'));
    const variable = refs(value, 'VariableRef')[0];
    if (!held || variable === undefined) return [];
    return [{ variable, type: variableType(held.name.replace(/Value$/, '')), value: held.text }];
  });
}

function made(item: XmlElement): RefiMade {
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
const variableType = (name: string | undefined): RefiVariableType =>
  VARIABLE_TYPES.find((type) => type === name) ?? 'Text';

const textIn = (item: XmlElement, name: string): string => childOf(item, name)?.text ?? '';
const refs = (item: XmlElement, name: string): string[] =>
  childrenOf(item, name).map((ref) => normalGuid(ref.attributes.targetGUID ?? ref.attributes.guid));
const guidOf = (item: XmlElement): string => normalGuid(item.attributes.guid);
/** Braces and capitals differ between a definition and its references in real files. */
const normalGuid = (guid: string | undefined): string =>
  (guid ?? '')
    .trim()
    .replace(/^\{|\}$/g, '')
    .toLowerCase();
const number = (item: XmlElement, name: string): number =>
  Number(lookup(item.attributes, name) ?? Number.NaN);

/** A transcript is a text whose selections run from one sync point to another; the points know the positions. */
function readTranscript(item: XmlElement): RefiText {
  const places = new Map(
    childrenOf(item, 'SyncPoint').map((point) => [
      guidOf(point),
      Number(point.attributes.position ?? Number.NaN),
    ]),
  );
  const place = (guid: string | undefined) => places.get(normalGuid(guid)) ?? Number.NaN;
  const selections = childrenOf(item, 'TranscriptSelection').map((selection) => ({
    ...readSelection(selection),
    start: place(selection.attributes.fromSyncPoint),
    end: place(selection.attributes.toSyncPoint),
  }));
  return { ...readText(item), selections };
}

/** The content of a project.qde. Missing parts are empty; nothing is judged here. */
function readRefiProject(root: XmlElement): RefiProject {
  const part = (name: string, item: string) => childrenOf(childOf(root, name), item);
  return {
    name: root.attributes.name ?? '',
    origin: root.attributes.origin ?? '',
    description: textIn(root, 'Description'),
    noteRefs: refs(root, 'NoteRef'),
    users: part('Users', 'User').map((user) => ({
      guid: guidOf(user),
      name: user.attributes.name || user.attributes.id || '',
    })),
    codes: codesIn(childOf(root, 'CodeBook')),
    variables: part('Variables', 'Variable').map((item) => ({
      guid: guidOf(item),
      name: item.attributes.name ?? '',
      type: variableType(item.attributes.typeOfVariable),
      description: textIn(item, 'Description'),
    })),
    cases: part('Cases', 'Case').map(readCase),
    sources: childOf(root, 'Sources')?.children.flatMap(readSource) ?? [],
    notes: part('Notes', 'Note').map(readText),
    links: part('Links', 'Link').map((link) => ({
      guid: guidOf(link),
      name: link.attributes.name ?? '',
      origin: normalGuid(link.attributes.originGUID),
      target: normalGuid(link.attributes.targetGUID),
    })),
    sets: part('Sets', 'Set').map((set) => ({
      guid: guidOf(set),
      name: set.attributes.name ?? '',
      codes: refs(set, 'MemberCode'),
      sources: refs(set, 'MemberSource'),
      notes: refs(set, 'MemberNote'),
    })),
    graphs: part('Graphs', 'Graph').length,
  };
}

/** Some exports leave out the element around the codes. */
export const codesIn = (book: XmlElement | undefined): RefiCode[] =>
  childrenOf(childOf(book, 'Codes') ?? book, 'Code').map(readRefiCode);

const readRefiCode = (code: XmlElement): RefiCode => ({
  guid: guidOf(code),
  name: code.attributes.name ?? '',
  // Some exports leave it out; a code without it was meant to be used.
  isCodable: code.attributes.isCodable !== 'false' && code.attributes.isCodable !== '0',
  ...(code.attributes.color ? { color: code.attributes.color } : {}),
  description: textIn(code, 'Description'),
  noteRefs: refs(code, 'NoteRef'),
  children: childrenOf(code, 'Code').map(readRefiCode),
});

function readCase(item: XmlElement): RefiCase {
  return {
    guid: guidOf(item),
    name: item.attributes.name ?? '',
    description: textIn(item, 'Description'),
    values: readValues(item),
    sourceRefs: refs(item, 'SourceRef'),
    selectionRefs: refs(item, 'SelectionRef'),
  };
}

const AUDIO = /\.(mp3|m4a|wav|ogg|flac|aac|wma|opus|aif|aiff)$/i;

function readSource(source: XmlElement): RefiSource[] {
  switch (source.name) {
    case 'TextSource':
      return [{ kind: 'text', ...readText(source) }];
    case 'PictureSource':
      return [readMedia('picture', source, childrenOf(source, 'TextDescription').map(readText))];
    case 'PDFSource':
      return [readMedia('pdf', source, childrenOf(source, 'Representation').map(readText))];
    case 'AudioSource':
      return [readMedia('audio', source, childrenOf(source, 'Transcript').map(readTranscript))];
    case 'VideoSource':
      // MAXQDA keeps recordings of sound in here too.
      return [
        readMedia(
          AUDIO.test(source.attributes.path ?? '') ? 'audio' : 'video',
          source,
          childrenOf(source, 'Transcript').map(readTranscript),
        ),
      ];
    default:
      return [];
  }
}

function readMedia(kind: RefiMediaSource['kind'], source: XmlElement, texts: RefiText[]): RefiMediaSource {
  return {
    kind,
    guid: guidOf(source),
    name: source.attributes.name ?? '',
    description: textIn(source, 'Description'),
    ...(source.attributes.path ? { path: source.attributes.path } : {}),
    ...made(source),
    areas: [...childrenOf(source, 'PictureSelection'), ...childrenOf(source, 'PDFSelection')].map(readArea),
    clips: [...childrenOf(source, 'AudioSelection'), ...childrenOf(source, 'VideoSelection')].map(readClip),
    texts,
    codings: childrenOf(source, 'Coding').map(readCoding),
    noteRefs: refs(source, 'NoteRef'),
    values: readValues(source),
  };
}

interface ReadQde {
  readonly refi: RefiProject;
  readonly encoding: DecodedText['encoding'];
  readonly bom: boolean;
}

/** What a project.qde says. Seconds of work without a pause for a large one, so it is done in the documents' thread. */
export async function readQde(bytes: Uint8Array, name: string): Promise<ReadQde> {
  const { text, encoding } = decodeText(bytes);
  const bom = text.startsWith('\ufeff');
  const root = await parseXml(bom ? text.slice(1) : text, name);
  if (root.name !== 'Project')
    throw new ToolError(
      'validation_error',
      `${name} is not a REFI-QDA project: its root element is ${root.name}.`,
    );
  return { refi: readRefiProject(root), encoding, bom };
}
