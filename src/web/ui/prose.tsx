import { UntrustedText } from './untrusted-text.tsx';

const COMMAND = /(`[^`\n]{1,120}`)/;

/** A message of the server, which may quote strangers; what stands between backticks is a command or a key. */
export const Prose = ({ text }: { readonly text: string }) =>
  text.split(COMMAND).map((part, at) =>
    at % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text are their places
      <code key={at}>
        <UntrustedText text={part.slice(1, -1)} />
      </code>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text are their places
      <UntrustedText key={at} text={part} />
    ),
  );
