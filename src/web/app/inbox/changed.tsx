import type { Item } from '../../../kernel/views/shapes.ts';
import { lookup } from '../../../lib/lookup.ts';
import { shortName } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';

const asText = (value: unknown): string =>
  value === undefined ? 'not given' : typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** Someone edited the call while it was open: what is different, before anyone approves it. */
export function ChangedNotice({ item, onRead }: { readonly item: Item; onRead(): void }) {
  const edit = item.edits.at(-1);
  const names = edit ? [...new Set([...Object.keys(edit.before), ...Object.keys(edit.after)])] : [];
  const differing = names.filter(
    (name) => asText(lookup(edit?.before, name)) !== asText(lookup(edit?.after, name)),
  );
  return (
    <Notice tone="warn">
      <div className="stack">
        <p>
          <strong>This call changed while it was open.</strong>
          {edit ? ` ${shortName(edit.editor)} edited it.` : ''} Read it again before you decide.
        </p>
        <dl className="changes">
          {differing.map((name) => (
            <div key={name}>
              <dt>{name.replaceAll('_', ' ')}</dt>
              <dd>
                <del>
                  <UntrustedText text={asText(lookup(edit?.before, name))} />
                </del>
              </dd>
              <dd>
                <ins>
                  <UntrustedText text={asText(lookup(edit?.after, name))} />
                </ins>
              </dd>
            </div>
          ))}
        </dl>
        <div>
          <Button small onClick={onRead}>
            I have read it
          </Button>
        </div>
      </div>
    </Notice>
  );
}
