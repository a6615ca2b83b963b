import { useEffect, useState } from 'react';

const readScheme = (): string =>
  `${document.documentElement.dataset.theme}${matchMedia('(prefers-color-scheme: dark)').matches}`;

/** Changes whenever the colours of the page do: a canvas does not follow them by itself. */
export function useColourScheme(): string {
  const [scheme, setScheme] = useState(readScheme);
  useEffect(() => {
    const update = (): void => setScheme(readScheme());
    const query = matchMedia('(prefers-color-scheme: dark)');
    query.addEventListener('change', update);
    const watch = new MutationObserver(update);
    watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      query.removeEventListener('change', update);
      watch.disconnect();
    };
  }, []);
  return scheme;
}
