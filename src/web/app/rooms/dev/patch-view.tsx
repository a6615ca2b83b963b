import { useMemo } from 'react';
import { Diff, Hunk, parseDiff } from 'react-diff-view';
import 'react-diff-view/style/index.css';
import { Foreign } from '../../components/foreign.tsx';
import { showUnseen } from '../../lib/unseen-text.ts';
import type { PullFile } from './types.ts';

interface Props {
  readonly diff: string;
  readonly files: readonly PullFile[];
}

/** The files of a pull request as unified diffs. */
export default function PatchView({ diff, files }: Props) {
  // Every line of a patch starts with a space, a sign or @@, so only real headings match.
  const patches = useMemo(() => diff.split(/^diff --git .*\n/m).slice(1), [diff]);
  return (
    <div className="stack">
      {files.map((file, at) => (
        <FilePatch key={file.filename} file={file} patch={patches[at] ?? ''} />
      ))}
    </div>
  );
}

function FilePatch({ file, patch }: { readonly file: PullFile; readonly patch: string }) {
  const parsed = useMemo(() => {
    if (!patch.startsWith('@@')) return undefined;
    // Real names would need git's quoting; the heading shows them.
    return parseDiff(`diff --git a/file b/file\n--- a/file\n+++ b/file\n${showUnseen(patch)}`)[0];
  }, [patch]);
  return (
    <section className="diff-file" aria-label={`Change of ${file.filename}`}>
      <h3 className="diff-path">
        <Foreign text={file.filename} />{' '}
        <span className="muted small">
          {file.status}, +{file.additions} −{file.deletions}
        </span>
      </h3>
      {parsed && parsed.hunks.length > 0 ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        <section className="diff-box" tabIndex={0} aria-label={`Lines of ${file.filename}`}>
          <Diff viewType="unified" diffType={parsed.type} hunks={parsed.hunks}>
            {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
          </Diff>
        </section>
      ) : (
        <p className="pad">
          {file.additions + file.deletions > 0
            ? 'This change is too large to show here. Read it in your clone before you merge.'
            : 'No lines changed: the file is empty, binary, or has only another name or mode.'}
        </p>
      )}
    </section>
  );
}
