import { CopyBox } from './components/copy-box.tsx';
import { Notice } from './components/notice.tsx';

/** Nobody is signed in: how to get the link that does it. */
export function SignIn({ problem }: { readonly problem: string | undefined }) {
  return (
    <main className="sign-in">
      <h1 className="brand brand-large">
        <span className="brand-mark" aria-hidden="true">
          ✓
        </span>
        Countersign
      </h1>
      {problem ? (
        <Notice tone="bad">
          <p>{problem}</p>
        </Notice>
      ) : null}
      <p>Agents propose, you countersign. To open your inbox, run this in a terminal on the same machine:</p>
      <CopyBox text="countersign open" label="the command" />
      <p className="muted">
        It prints a link that signs this browser in. The link works once and for ten minutes; an agent's token
        never opens this page.
      </p>
    </main>
  );
}
