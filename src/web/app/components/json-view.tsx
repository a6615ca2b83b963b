import { Foreign } from './foreign.tsx';

/** Any data, readable, as text. */
export function JsonView({ value, label = 'JSON' }: { readonly value: unknown; readonly label?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="code-box" aria-label={label} tabIndex={0}>
      <Foreign block text={JSON.stringify(value, null, 2) ?? 'nothing'} />
    </section>
  );
}
