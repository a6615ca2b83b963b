import { useMemo, useState } from 'react';
import { Diff, Hunk, markEdits, parseDiff, tokenize } from 'react-diff-view';
import 'react-diff-view/style/index.css';
import type { PreviewFile } from '../../contract/preview.ts';
import { showUnseen } from '../../lib/unseen.ts';
import { useFold, useOpenFolds } from './folds.tsx';
import { Icon } from './icon.tsx';
import { UntrustedText } from './untrusted-text.tsx';

/** Laying out larger changes line by line would hold up the page. */
const MAX_LAID_OUT = 400_000;
/** Changed words are marked up to this size. */
const MAX_MARKED = 60_000;
/** So many files are open; the others say that they were not viewed. */
const OPEN = 3;

interface Props {
  readonly files: readonly PreviewFile[];
  /** The commit that the change is compared with. */
  readonly base?: string;
}

/** A diff file by file, and on demand exactly as git prints it. */
export function PatchFiles({ files, base }: Props) {
  const [exact, setExact] = useState(false);
  const [all, setAll] = useState(useOpenFolds());
  const sum = (key: 'additions' | 'deletions') => files.reduce((total, file) => total + file[key], 0);
  return (
    <div className="stack">
      <div className="row small">
        <span>
          {files.length} {files.length === 1 ? 'file' : 'files'},{' '}
          <span className="tone-good">+{sum('additions')}</span>{' '}
          <span className="tone-bad">−{sum('deletions')}</span>
        </span>
        {base ? (
          <span className="muted">
            compared with commit <code title={base}>{base.slice(0, 7)}</code>
          </span>
        ) : null}
        <button type="button" className="link-button" aria-expanded={exact} onClick={() => setExact(!exact)}>
          {exact ? 'Hide the git diff' : 'Show as git diff'}
        </button>
        {files.length > OPEN && !all ? (
          <button type="button" className="link-button" onClick={() => setAll(true)}>
            Open all {files.length} files
          </button>
        ) : null}
      </div>
      {exact ? (
        <section className="code-box" aria-label="Git diff">
          <pre className="git-diff">{showUnseen(files.map(({ patch }) => patch).join(''))}</pre>
        </section>
      ) : null}
      {files.map((file, index) => (
        <FilePatch key={`${all} ${file.status} ${file.path}`} file={file} opened={all || index < OPEN} />
      ))}
    </div>
  );
}

function FilePatch({ file, opened }: { readonly file: PreviewFile; readonly opened: boolean }) {
  const { path, previous_path } = file;
  const [open, setOpen] = useState(opened);
  const [viewed, setViewed] = useState(opened);
  const ref = useFold(!viewed);
  return (
    <section className="diff-file" aria-label={`Change of ${path}`}>
      <h3 className="diff-path">
        <button
          ref={ref}
          type="button"
          aria-expanded={open}
          onClick={() => {
            setOpen(!open);
            setViewed(true);
          }}
        >
          <Icon name={open ? 'down' : 'right'} small />
          <span>
            {previous_path === undefined ? null : (
              <>
                <UntrustedText whole text={previous_path} /> →{' '}
              </>
            )}
            <UntrustedText whole text={path} /> <span className="muted">{describe(file)}</span>
          </span>
          {viewed ? null : <span className="diff-unviewed">not viewed</span>}
        </button>
      </h3>
      {open ? <Lines file={file} /> : null}
    </section>
  );
}

function Lines({ file: { path, patch, binary } }: { readonly file: PreviewFile }) {
  const parsed = useMemo(() => {
    const start = binary || patch.length > MAX_LAID_OUT ? -1 : patch.search(/^@@ /m);
    if (start < 0) return undefined;
    // Real names would need git's quoting; the heading shows them.
    return parseDiff(
      `diff --git a/file b/file\n--- a/file\n+++ b/file\n${showUnseen(patch.slice(start))}`,
    )[0];
  }, [patch, binary]);
  const tokens = useMemo(
    () =>
      parsed && patch.length <= MAX_MARKED
        ? tokenize(parsed.hunks, { enhancers: [markEdits(parsed.hunks, { type: 'block' })] })
        : undefined,
    [parsed, patch],
  );
  if (!parsed || parsed.hunks.length === 0)
    return (
      <section className="code-box" aria-label={`Change of ${path} as git prints it`}>
        <UntrustedText block text={patch} />
      </section>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="diff-box" tabIndex={0} aria-label={`Lines of ${path}`}>
      <Diff viewType="unified" diffType={parsed.type} hunks={parsed.hunks} tokens={tokens ?? null}>
        {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
      </Diff>
    </section>
  );
}

function describe({ status, additions, deletions, binary, old_mode, new_mode }: PreviewFile): string {
  const lines = binary ? 'binary' : `+${additions} −${deletions}`;
  const mode =
    old_mode !== undefined && new_mode !== undefined && old_mode !== new_mode
      ? `, mode ${old_mode} → ${new_mode}`
      : '';
  return `${status}, ${lines}${mode}`;
}
