import { childOf, childrenOf, type XmlElement } from '../xml.ts';
import type { RefiCase, RefiCode, RefiMediaSource, RefiProject, RefiSource, RefiText } from './model.ts';
import {
  guidOf,
  made,
  normalGuid,
  readArea,
  readClip,
  readCoding,
  readText,
  readValues,
  refs,
  textIn,
  variableType,
} from './read-parts.ts';
import { readTranscript } from './read-transcript.ts';

/** The content of a project.qde. Missing parts are empty; nothing is judged here. */
export function readRefiProject(root: XmlElement): RefiProject {
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
