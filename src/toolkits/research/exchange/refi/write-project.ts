import { element, list, textElement } from '../xml.ts';
import type {
  RefiCase,
  RefiCode,
  RefiCoding,
  RefiMade,
  RefiMediaSource,
  RefiProject,
  RefiSelection,
  RefiSource,
  RefiText,
  RefiValue,
} from './model.ts';

const NAMESPACE = 'urn:QDA-XML:project:1.0';
const LOCATION = `${NAMESPACE} http://schema.qdasoftware.org/versions/Project/v1.0/Project.xsd`;

/** The project as project.qde, in the order that the schema demands. */
export function writeRefiProject(project: RefiProject): string {
  const root = element(
    'Project',
    {
      xmlns: NAMESPACE,
      'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      'xsi:schemaLocation': LOCATION,
      name: project.name,
      origin: project.origin,
    },
    [
      list(
        'Users',
        project.users.map(({ guid, name }) => element('User', { guid, name })),
      ),
      project.codes.length ? element('CodeBook', {}, [list('Codes', project.codes.map(writeRefiCode))]) : '',
      list(
        'Variables',
        project.variables.map(({ guid, name, type, description }) =>
          element('Variable', { guid, name, typeOfVariable: type }, [
            textElement('Description', description),
          ]),
        ),
      ),
      list('Cases', project.cases.map(writeCase)),
      list('Sources', project.sources.map(writeSource)),
      list(
        'Notes',
        project.notes.map((note) => writeText('Note', note)),
      ),
      list(
        'Links',
        project.links.map(({ guid, name, origin, target }) =>
          element('Link', { guid, name, direction: 'Associative', originGUID: origin, targetGUID: target }),
        ),
      ),
      list(
        'Sets',
        project.sets.map((set) =>
          element('Set', { guid: set.guid, name: set.name }, [
            ...refs('MemberCode', set.codes),
            ...refs('MemberSource', set.sources),
            ...refs('MemberNote', set.notes),
          ]),
        ),
      ),
      textElement('Description', project.description),
      ...refs('NoteRef', project.noteRefs),
    ],
  );
  return `<?xml version="1.0" encoding="utf-8"?>\n${root}\n`;
}

export const writeRefiCode = (code: RefiCode): string =>
  element('Code', { guid: code.guid, name: code.name, isCodable: code.isCodable, color: code.color }, [
    textElement('Description', code.description),
    ...refs('NoteRef', code.noteRefs),
    ...code.children.map(writeRefiCode),
  ]);

const writeCase = (item: RefiCase): string =>
  element('Case', { guid: item.guid, name: item.name }, [
    textElement('Description', item.description),
    ...item.values.map(writeValue),
    ...refs('SourceRef', item.sourceRefs),
    ...refs('SelectionRef', item.selectionRefs),
  ]);

function writeSource(source: RefiSource): string {
  switch (source.kind) {
    case 'text':
      return writeText('TextSource', source);
    case 'picture':
      return writeMedia('PictureSource', source, [
        ...source.texts.map((text) => writeText('TextDescription', text)),
        ...areas('PictureSelection', source),
      ]);
    case 'pdf':
      return writeMedia('PDFSource', source, [
        ...areas('PDFSelection', source),
        ...source.texts.map((text) => writeText('Representation', text)),
      ]);
    case 'audio':
      return writeMedia('AudioSource', source, clips('AudioSelection', source));
    case 'video':
      return writeMedia('VideoSource', source, clips('VideoSelection', source));
    default:
      return source satisfies never;
  }
}

const writeMedia = (name: string, source: RefiMediaSource, parts: readonly string[]): string =>
  element(name, { guid: source.guid, name: source.name, path: source.path, ...made(source) }, [
    textElement('Description', source.description),
    ...parts,
    ...source.codings.map(writeCoding),
    ...refs('NoteRef', source.noteRefs),
    ...source.values.map(writeValue),
  ]);

const areas = (name: string, source: RefiMediaSource): string[] =>
  source.areas.map((area) =>
    selection(name, area, {
      page: area.page,
      firstX: area.firstX,
      firstY: area.firstY,
      secondX: area.secondX,
      secondY: area.secondY,
    }),
  );

const clips = (name: string, source: RefiMediaSource): string[] =>
  source.clips.map((clip) => selection(name, clip, { begin: clip.begin, end: clip.end }));

const writeText = (name: string, text: RefiText): string =>
  element(
    name,
    {
      guid: text.guid,
      name: text.name,
      richTextPath: text.richTextPath,
      plainTextPath: text.plainTextPath,
      ...made(text),
    },
    [
      textElement('Description', text.description),
      text.content === undefined ? '' : textElement('PlainTextContent', text.content),
      ...text.selections.map((item) =>
        selection('PlainTextSelection', item, { startPosition: item.start, endPosition: item.end }),
      ),
      ...text.codings.map(writeCoding),
      ...refs('NoteRef', text.noteRefs),
      ...text.values.map(writeValue),
    ],
  );

const selection = (name: string, item: RefiSelection, place: Record<string, number | undefined>): string =>
  element(name, { guid: item.guid, name: item.name || undefined, ...place, ...made(item) }, [
    textElement('Description', item.description),
    ...item.codings.map(writeCoding),
    ...refs('NoteRef', item.noteRefs),
  ]);

const writeCoding = (coding: RefiCoding): string =>
  element('Coding', { guid: coding.guid, ...made(coding) }, [
    ...refs('CodeRef', [coding.code]),
    ...refs('NoteRef', coding.noteRefs),
  ]);

const writeValue = ({ variable, type, value }: RefiValue): string =>
  element('VariableValue', {}, [...refs('VariableRef', [variable]), textElement(`${type}Value`, value)]);

const refs = (name: string, guids: readonly string[]): string[] =>
  guids.map((targetGUID) => element(name, { targetGUID }));

const made = ({ user, date }: RefiMade) => ({ creatingUser: user, creationDateTime: date });
