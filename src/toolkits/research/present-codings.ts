import type { PresentationDraft } from '../../contract/presentation.ts';
import type { PresentContext } from '../../contract/tool.ts';
import { quoted } from '../../lib/words.ts';
import { changeTitle, codeNamed, codeQuoted, passageBlock, segments, showProject } from './present.ts';
import { requireCoding } from './project/checks.ts';
import { publicMemo } from './project/memo.ts';
import type { ResearchServices } from './services.ts';

type Context = PresentContext<ResearchServices>;

const memoBlock = (title: string, memo: string | undefined) =>
  memo ? [{ type: 'document' as const, title, text: publicMemo(memo), source: 'agent' as const }] : [];

/** A passage that gets a code. */
export async function presentCoding(
  args: { readonly code_id: number; readonly memo?: string | undefined },
  place: { readonly sourceId: number; readonly start: number; readonly end: number },
  context: Context,
): Promise<PresentationDraft> {
  const { target, asker, reader } = await showProject(context);
  const { sourceId: source_id, start, end } = place;
  const { name, color } = codeNamed(reader, args.code_id);
  return {
    ...changeTitle(
      'Apply',
      'Applied',
      `${codeQuoted(codeNamed(asker, args.code_id).name)} to a quote`,
      target,
    ),
    act: 'apply',
    kind: 'passage',
    gist: asker.passage(source_id, start, end).content,
    effect: { text: '1 coding added', detail: 'The text stays as it is' },
    body: [passageBlock(reader, { source_id, start, end }, { name, color }), ...memoBlock('Memo', args.memo)],
    covers: ['code_id', 'source_id', 'quote', 'occurrence', 'memo'],
  };
}

export async function presentCodingChange(
  args: {
    readonly segment_id: number;
    readonly code_id?: number | undefined;
    readonly memo?: string | undefined;
    readonly important?: boolean | undefined;
  },
  context: Context,
): Promise<PresentationDraft> {
  const { target, asker, reader } = await showProject(context);
  const coding = requireCoding(asker.reader, args.segment_id);
  const from = codeNamed(reader, coding.codeId);
  const to = args.code_id === undefined ? undefined : codeNamed(reader, args.code_id);
  const rows = [
    ...(to ? [['Code', from.name, to.name]] : []),
    ...(args.memo === undefined ? [] : [['Memo', publicMemo(coding.memo), publicMemo(args.memo)]]),
    ...(args.important === undefined
      ? []
      : [['Important', coding.important ? 'yes' : 'no', args.important ? 'yes' : 'no']]),
  ];
  const known = quoted(codeNamed(asker, coding.codeId).name, 20);
  const after = args.code_id === undefined ? '' : ` to ${quoted(codeNamed(asker, args.code_id).name, 20)}`;
  return {
    ...changeTitle('Change', 'Changed', `coding ${known}${after}`, target),
    act: 'change',
    kind: 'passage',
    gist: asker.codingText(coding),
    effect: { text: '1 coding changed', detail: 'The text stays as it is' },
    body: [
      { type: 'table', title: 'Changes', columns: ['Field', 'Now', 'After'], rows, source: 'countersign' },
      passageBlock(reader, { source_id: coding.sourceId, start: coding.start, end: coding.end }, from),
    ],
    covers: ['segment_id', 'code_id', 'memo', 'important'],
  };
}

export async function presentCategory(
  args: { readonly name: string; readonly memo?: string | undefined; readonly code_ids: readonly number[] },
  context: Context,
): Promise<PresentationDraft> {
  const { target, asker, reader } = await showProject(context);
  const counts = reader.reader.codingCounts();
  const rows = args.code_ids.map((id) => {
    const category = reader.reader.code(id)?.categoryId;
    const now = reader.reader.categories().find((item) => item.id === category);
    return [codeNamed(reader, id).name, segments(counts.get(id) ?? 0), now ? reader.mask(now.name) : 'none'];
  });
  return {
    ...changeTitle(
      'Create',
      'Created',
      `category ${quoted(asker.mask(args.name))} in ${target.label}`,
      target,
    ),
    act: 'create',
    kind: 'label',
    gist: args.code_ids.map((id) => codeNamed(asker, id).name).join(', '),
    effect: { text: '1 category added', detail: `${args.code_ids.length} codes move into it` },
    body: [
      {
        type: 'table',
        title: 'Codes',
        columns: ['Code', 'Use', 'Category now'],
        rows,
        source: 'countersign',
      },
      ...memoBlock('Memo', args.memo),
    ],
    covers: ['name', 'memo', 'code_ids'],
  };
}

/** A note that an agent writes: where it goes and what it says. */
export async function presentNote(
  words: { readonly verb: string; readonly done: string; readonly what: string; readonly text: string },
  covers: readonly string[],
  context: Context,
): Promise<PresentationDraft> {
  const { target, asker } = await showProject(context);
  return {
    ...changeTitle(words.verb, words.done, `${asker.mask(words.what)} in ${target.label}`, target),
    act: words.verb.toLowerCase(),
    kind: 'file',
    gist: publicMemo(words.text),
    effect: { text: '1 note written', detail: 'The texts stay' },
    body: memoBlock('Text', words.text),
    covers: [...covers],
  };
}
