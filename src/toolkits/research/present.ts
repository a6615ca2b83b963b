import { ToolError } from '../../contract/errors.ts';
import {
  type PresentationBlock,
  type PresentationDraft,
  type PresentationTarget,
  type PresentationUndo,
  TITLE_MAX,
} from '../../contract/presentation.ts';
import type { PresentContext } from '../../contract/tool.ts';
import { cutTitle, cutWords, quoted } from '../../lib/words.ts';
import { type PrivacyView, personPrivacyView, privacyViewFor } from './privacy/privacy-view.ts';
import { noCode } from './project/checks.ts';
import { ownerOf } from './project/ownership.ts';
import type { ResearchServices } from './services.ts';

type Context = PresentContext<ResearchServices>;

/** The project as a call is presented in it. */
export interface Shown {
  readonly target: PresentationTarget;
  /** As the requester knows it: for title and main content, which it may read again, and for whether the call can work. */
  readonly asker: PrivacyView;
  /**
   * For the body. While the call is being asked this is the requester's view too, because the body is stored; a person
   * who reads it later sees the original names.
   */
  readonly reader: PrivacyView;
}

/** Throws where another project is open than the one the call was asked in: its numbers mean something else there. */
export async function showProject({ services, principal, asked }: Context): Promise<Shown> {
  const project = await services.projects.current();
  if (asked) {
    const meant = await ownerOf({ context: asked.context, createdAt: asked.at }, services.projects);
    if (meant !== project.id) {
      const path = meant === undefined ? undefined : await services.projects.pathOf(meant);
      throw new ToolError(
        'conflict',
        `This is for the project "${String(asked.context.project_name ?? path ?? meant)}", which is not open. Open it to decide.`,
      );
    }
  }
  const asker = privacyViewFor(principal, project.store, await services.privacy.rules(project.id));
  return {
    target: projectTarget(project.store.info().name),
    asker,
    reader: asked ? personPrivacyView(project.store) : asker,
  };
}

const projectTarget = (name: string): PresentationTarget => ({
  kind: 'project',
  label: name,
  detail: 'Project on this machine',
  environment: 'local',
});

/** For calls that do not present themselves. */
export async function researchTarget(services: ResearchServices): Promise<PresentationTarget> {
  const project = await services.projects.current();
  return projectTarget(project.store.info().name);
}

const UNDO: PresentationUndo = { possible: true, text: 'Can be undone', detail: 'At any time' };

export const segments = (count: number): string => (count === 1 ? '1 segment' : `${count} segments`);

/** The name of a code; one that does not exist is refused before a person is asked. */
export function codeNamed(lens: PrivacyView, id: number) {
  const code = lens.reader.code(id);
  if (!code) throw noCode(id);
  return { name: lens.mask(code.name), color: code.color, memo: lens.tell(code.memo) };
}

/** A code without a memo says so: a person who deletes it wants to know that nothing defines it. */
export const memoBlock = ({ name, memo }: { name: string; memo: string }): PresentationBlock[] => [
  { type: 'document', title: 'Memo of the code', heading: name, text: memo || 'No memo.', source: 'person' },
];

/** What a code is about in one line, for lists and dialogs: its memo and an example. */
export function codeGist(lens: PrivacyView, id: number): string {
  const { memo } = codeNamed(lens, id);
  const [first] = lens.reader.codings({ codeId: id });
  const count = lens.reader.codingCounts().get(id) ?? 0;
  const example = first
    ? `, such as ${quoted(lens.codingText(first), 80)} in ${sourceNamed(lens, first.sourceId)}`
    : '';
  const use = count === 0 ? 'no segments' : `${segments(count)}${example}`;
  return [memo, use].filter(Boolean).join('; ');
}

export const sourceNamed = (lens: PrivacyView, id: number): string => lens.mask(lens.source(id).name);

const AROUND = 300;

/** A passage in its text, with the codings that overlap it. */
export function passageBlock(
  lens: PrivacyView,
  place: { readonly source_id: number; readonly start: number; readonly end: number },
  code?: { readonly name: string; readonly color: string | null },
): PresentationBlock {
  const { source_id, start, end } = place;
  const text = lens.text(source_id);
  const part = (from: number, to: number): string => lens.passage(source_id, from, to).content;
  const codings = lens.reader
    .codings({ sourceId: source_id })
    .filter((one) => one.start < end && one.end > start)
    .slice(0, 20)
    .flatMap((one) => {
      const found = lens.reader.code(one.codeId);
      return found ? [{ name: lens.mask(found.name), color: found.color, by: one.owner }] : [];
    });
  return {
    type: 'passage',
    source_name: sourceNamed(lens, source_id),
    before: `${start > AROUND ? '…' : ''}${part(Math.max(0, start - AROUND), start)}`,
    text: part(start, end),
    after: `${part(end, Math.min(text.length, end + AROUND))}${end + AROUND < text.length ? '…' : ''}`,
    line: lineOf(text.slice(0, start)),
    ...(code ? { code } : {}),
    ...(codings.length > 0 ? { codings } : {}),
  };
}

const lineOf = (before: string): number => before.split('\n').length;

const MOST_LISTED = 20;

/** Coded passages as rows, for calls that touch many. */
export function segmentTable(
  lens: PrivacyView,
  title: string,
  found: readonly { readonly sourceId: number; readonly start: number; readonly end: number }[],
): PresentationBlock[] {
  if (found.length === 0) return [];
  const rows = found.slice(0, MOST_LISTED).map(({ sourceId, start, end }) => {
    const { content } = lens.passage(sourceId, start, Math.min(end, start + 200));
    return [sourceNamed(lens, sourceId), content];
  });
  const more = found.length - rows.length;
  return [
    {
      type: 'table',
      title,
      columns: ['Source', 'Passage'],
      rows,
      ...(more > 0 ? { more } : {}),
      source: 'countersign',
    },
  ];
}

/** Title, past tense and place of a change to the project. */
export const changeTitle = (
  verb: string,
  done: string,
  rest: string,
  target: PresentationTarget,
): Pick<PresentationDraft, 'title' | 'done' | 'target' | 'undo'> => ({
  title: titleIn(`${verb} ${rest}`, target),
  done: `${done} ${rest}`,
  target,
  undo: UNDO,
});

const LONGEST_LABEL = 24;

/** Lists show titles only, and a person may have several projects: the project is not what is cut. */
function titleIn(title: string, { label, environment }: PresentationTarget): string {
  if (title.includes(label)) return title;
  const place = ` in ${cutWords(label, LONGEST_LABEL)}`;
  const cut = cutTitle(title, TITLE_MAX - `${place} (${environment})`.length);
  return cut.replace(/ (?:to|in|of|from)…$/u, '') + place;
}

export const codeQuoted = (name: string): string => `code ${quoted(name, 24)}`;
