import type {
  ApprovalPresentation,
  Author,
  PresentationBlock,
  QuotedText,
} from '../contract/presentation.ts';
import { showUnseenLine } from '../lib/unseen.ts';
import { type Color, paint } from './color.ts';
import { table, WHOLE } from './output.ts';
import { paragraph, plainText } from './text.ts';

/** The facts of a call as `approvals show` and `review` print them: what, where, effect, undo, risks, why. */
export function describeFacts(shown: ApprovalPresentation): string {
  const { target, effect, undo, reason, rule } = shown;
  const line = (label: string, text: string, color: Color = 'dim'): string =>
    `${paint(color, label)}${' '.repeat(12 - label.length)}${behind(12, text)}`;
  const withDetail = (text: string, detail: string | undefined): string =>
    detail === undefined ? text : `${text} (${detail})`;
  return [
    line('Where', withDetail(target.label, target.detail)).concat(', ', environmentOf(target.environment)),
    line('Effect', withDetail(effect.text, effect.detail)),
    line('Undo', withDetail(undo.text, undo.detail)),
    ...shown.risks.map(({ level, text }) =>
      level === 'danger' ? line('DANGER', text, 'red') : line('Note', text, 'yellow'),
    ),
    line('Reason', reason ? reason.text : 'none given'),
    line('Asked', `${rule.title}: ${rule.sentence}`),
    ...(shown.usual ? [line('Before', `${shown.usual.approved} of ${shown.usual.of} approved`)] : []),
    ...shown.limits.map(({ key, used, of }) =>
      used < of
        ? line('Limit', `${used} of ${of} used (${key})`)
        : line(
            'FULL',
            `${used} of ${of} used (${key}): the call is refused until the limit resets`,
            'yellow',
          ),
    ),
    ...(shown.stale ? [line('NOW', shown.stale, 'yellow')] : []),
  ].join('\n');
}

/** Further lines stay behind the margin, or a text could imitate the facts around it. */
export const behind = (margin: number, text: string): string =>
  plainText(text)
    .split('\n')
    .join(`\n${' '.repeat(margin)}`);

const environmentOf = (name: string): string => (name === 'live' ? paint('bold', name) : name);

/** The body of a presentation without its diff, which is printed as git prints it. */
export const describeBody = (blocks: readonly PresentationBlock[]): string =>
  blocks
    .filter(({ type }) => type !== 'diff')
    .map((block) => {
      const head = block.title ?? HEADS[block.type];
      return `${paint('bold', showUnseenLine(head))}\n${textOf(block)}`;
    })
    .join('\n\n');

const HEADS: Readonly<Record<PresentationBlock['type'], string>> = {
  post: 'As it will appear',
  thread: 'As it will appear',
  message: 'Message',
  quote: 'Acts on',
  document: 'Text',
  diff: 'Changed files',
  passage: 'Passage',
  table: 'Table',
  fields: 'Arguments',
  checks: 'Checked before you were asked',
  notice: 'Note',
};

function textOf(block: PresentationBlock): string {
  switch (block.type) {
    case 'post':
      return lines([
        block.context && `${block.context.as === 'reply' ? 'Reply to' : 'Quotes'} ${quote(block.context)}`,
        paragraph(block.text),
        block.length && `  ${block.length.used} of ${block.length.of} characters`,
        block.at && `  Scheduled for ${block.at}`,
        ...attached(block.media),
      ]);
    case 'thread':
      return lines([
        ...block.posts.map(({ text }, at) => `  ${at + 1}/${block.posts.length}\n${paragraph(text)}`),
        block.at && `  Scheduled for ${block.at}`,
        ...attached(block.media),
      ]);
    case 'message':
      return lines([
        block.to.length > 0 && `  To ${showUnseenLine(block.to.map(nameOf).join(', '))}`,
        ...(block.context ?? []).map((one) => `  After ${quote(one)}`),
        paragraph(block.text),
      ]);
    case 'quote':
      return `  ${quote(block.quoted)}`;
    case 'document':
      return lines([
        block.heading && paragraph(block.heading),
        block.text && paragraph(block.text),
        block.labels && `  Labels: ${showUnseenLine(block.labels.join(', '))}`,
      ]);
    case 'passage':
      return lines([
        `  ${showUnseenLine(block.source_name)}${block.line === undefined ? '' : `, line ${block.line}`}`,
        paragraph(`…${block.before}[${block.text}]${block.after}…`),
        block.code && `  Code ${showUnseenLine(block.code.name)}`,
        ...(block.codings ?? []).map(({ name }) => `  Also coded ${showUnseenLine(name)}`),
      ]);
    case 'table':
      return lines([
        table(
          block.columns,
          block.rows.map((row) => row.map(showUnseenLine)),
          WHOLE,
        ),
        block.more !== undefined && block.more > 0 && `  ${block.more} more`,
      ]);
    case 'fields':
      return block.rows
        .map(({ name, text, note, depth }) => {
          const label = `${'  '.repeat(depth + 1)}${showUnseenLine(name)}`;
          return `${label.padEnd(22)}  ${behind(24, text)}${note ? `  (${showUnseenLine(note)})` : ''}`;
        })
        .join('\n');
    case 'checks':
      return block.rows
        .map(({ label, result, detail }) => {
          const more = detail === undefined ? '' : ` (${showUnseenLine(detail)})`;
          return `  ${showUnseenLine(label)}: ${showUnseenLine(result)}${more}`;
        })
        .join('\n');
    case 'notice':
      return paragraph(block.text);
    case 'diff':
      return '';
    default:
      return block satisfies never;
  }
}

const nameOf = ({ handle, name }: Author): string => handle ?? name;

const quote = ({ author, text }: QuotedText): string =>
  behind(4, `${author ? nameOf(author) : 'unknown author'}: “${text}”`);

const attached = (media: readonly string[] | undefined): string[] =>
  (media ?? []).map((one) => `  Attached: ${showUnseenLine(one)}`);

const lines = (parts: readonly (string | false | undefined)[]): string =>
  parts.filter((part) => typeof part === 'string' && part !== '').join('\n');
