import { createTwoFilesPatch } from 'diff';
import { useMemo } from 'react';
import { Diff, Hunk, parseDiff } from 'react-diff-view';
import 'react-diff-view/style/index.css';
import { Foreign } from '../../components/foreign.tsx';
import { showUnseen } from '../../lib/unseen-text.ts';
import type { ChangedFile } from './kinds.ts';

/** Comparing larger texts line by line would hold up the page. */
const MAX_COMPARED = 400_000;

/** Changed files, each as a unified diff of what the agent said is there and what it wants there. */
export default function DiffView({ files }: { readonly files: readonly ChangedFile[] }) {
  return (
    <div className="stack">
      {files.map((file) => (
        <FileDiff key={file.path} file={file} />
      ))}
    </div>
  );
}

function FileDiff({ file }: { readonly file: ChangedFile }) {
  const { path, before, after } = file;
  const tooLong = (before?.length ?? 0) + after.length > MAX_COMPARED;
  const parsed = useMemo(() => {
    if (tooLong) return undefined;
    // Names with spaces or quotes would need git's own quoting; the heading above shows the real one.
    const patch = createTwoFilesPatch('file', 'file', before ?? '', after, '', '', { context: 3 });
    const body = patch.slice(patch.indexOf('---'));
    // Written out only now: a change of nothing but an unseen character is a change all the same.
    return parseDiff(`diff --git a/file b/file\n${showUnseen(body)}`)[0];
  }, [before, after, tooLong]);
  return (
    <section className="diff-file" aria-label={`Change of ${path}`}>
      <h3 className="diff-path">
        <Foreign text={path} />
        {before === undefined ? (
          <span className="muted"> as a new file (no earlier content was given)</span>
        ) : null}
      </h3>
      {parsed && parsed.hunks.length > 0 ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        <section className="diff-box" tabIndex={0} aria-label={`Lines of ${path}`}>
          <Diff viewType="unified" diffType={parsed.type} hunks={parsed.hunks}>
            {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
          </Diff>
        </section>
      ) : (
        <section className="code-box" aria-label={`Content of ${path}`}>
          {before === after ? 'No line changes.' : <Foreign block text={after} />}
        </section>
      )}
    </section>
  );
}
