import { useLocation } from 'wouter';
import { CopyBox } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { BrandMark } from './shell.tsx';

/** Only what no shell takes for anything but a word: the address may be a stranger's. */
const PLAIN_PAGE = /^\/[\w/-]+$/;

/** No one is signed in: how to get the link that does it. */
export function SignIn({ problem }: { readonly problem: string | undefined }) {
  const [page] = useLocation();
  const isPlain = PLAIN_PAGE.test(page);
  return (
    <main className="sign-in">
      <h1 className="brand brand-large">
        <BrandMark />
        Countersign
      </h1>
      {problem ? (
        <Notice tone="bad">
          <p>{problem}</p>
        </Notice>
      ) : null}
      <p>
        Agents propose, you countersign. To open {isPlain ? 'this page' : 'your inbox'}, run this in a
        terminal on the machine that runs Countersign:
      </p>
      <CopyBox text={isPlain ? `countersign open ${page}` : 'countersign open'} label="the command" />
      <p className="muted">
        It prints a link that signs in this browser. The link works once and expires in ten minutes. Agent
        tokens cannot open this page.
      </p>
    </main>
  );
}
