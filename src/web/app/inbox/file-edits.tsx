import { createTwoFilesPatch } from 'diff';
import type { PreviewFile } from '../../../contract/preview.ts';
import { BlockCard } from '../../ui/block-card.tsx';
import { PatchFiles } from '../../ui/patch.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import type { FileEdit } from './find-edits.ts';

/** File edits of a third-party tool as a diff; content whose earlier state is unknown as text. */
export default function FileEdits({ edits }: { readonly edits: readonly FileEdit[] }) {
  const changes = edits.filter(({ before }) => before !== undefined);
  return (
    <>
      {changes.length > 0 ? <PatchFiles files={changes.map(toFile)} /> : null}
      {edits
        .filter(({ before }) => before === undefined)
        .map(({ path, after }) => (
          <BlockCard key={path} icon="file" title={`New content of ${path}`}>
            <div className="block-body field-code">
              <UntrustedText block text={after} />
            </div>
          </BlockCard>
        ))}
    </>
  );
}

function toFile({ path, before = '', after }: FileEdit, index: number): PreviewFile {
  const context = Number.MAX_SAFE_INTEGER;
  const patch = createTwoFilesPatch('a', 'b', before, after, undefined, undefined, { context });
  const count = (sign: string): number =>
    patch.split('\n').filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return {
    path: index === 0 ? path : `${path}, edit ${index + 1}`,
    status: 'modified',
    additions: count('+'),
    deletions: count('-'),
    binary: false,
    patch,
  };
}
