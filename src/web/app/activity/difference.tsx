import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { lookup } from '../../../lib/lookup.ts';
import { UntrustedText } from '../../ui/untrusted-text.tsx';

const show = (value: JsonValue | undefined): string =>
  value === undefined ? 'not given' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);

/** The arguments that differ, before and after, with the words that were taken out and put in. */
export function Difference({ before, after }: { readonly before: JsonObject; readonly after: JsonObject }) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => show(lookup(before, name)) !== show(lookup(after, name)));
  return (
    <dl className="difference">
      {changed.map((name) => {
        const [gone, come] = marked(show(lookup(before, name)), show(lookup(after, name)));
        return (
          <div key={name}>
            <dt>
              <UntrustedText text={name} />
            </dt>
            <dd className="difference-del">
              <span className="sr-only">Before: </span>
              <Parts parts={gone} as="del" />
            </dd>
            <dd className="difference-add">
              <span className="sr-only">After: </span>
              <Parts parts={come} as="ins" />
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

type Part = readonly [text: string, isSame: boolean];

const Parts = ({ parts, as: Tag }: { readonly parts: readonly Part[]; readonly as: 'del' | 'ins' }) => (
  <>
    {parts.map(([text, isSame], index) =>
      isSame ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text are their places
        <UntrustedText key={index} text={text} />
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text are their places
        <Tag key={index}>
          <UntrustedText text={text} />
        </Tag>
      ),
    )}
  </>
);

/** What both begin and end with is the same; between them, the words of each. */
function marked(before: string, after: string): readonly [readonly Part[], readonly Part[]] {
  const [a, b] = [before.split(/(?<=\s)/u), after.split(/(?<=\s)/u)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail += 1;
  const parts = (words: readonly string[]): Part[] =>
    (
      [
        [words.slice(0, head).join(''), true],
        [words.slice(head, words.length - tail).join(''), false],
        [words.slice(words.length - tail).join(''), true],
      ] as const
    ).filter(([text]) => text !== '');
  return [parts(a), parts(b)];
}
