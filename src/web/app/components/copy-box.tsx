import { useRef, useState } from 'react';
import { Button } from './button.tsx';

/** Text to take elsewhere: a configuration, a command, a token. */
export function CopyBox({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  const box = useRef<HTMLPreElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Browsers lend the clipboard only to https and this machine; selected, the text is one key press away.
      if (box.current) getSelection()?.selectAllChildren(box.current);
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div className="copy-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} ref={box}>
        <code>{text}</code>
      </pre>
      <Button small onClick={() => void copy()} aria-label={`Copy ${label}`}>
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
