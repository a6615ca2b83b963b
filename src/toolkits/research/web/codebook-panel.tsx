import { useState } from 'react';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { Branch } from './codes.tsx';
import type { Category, Code, CodeTree } from './data.ts';

interface Props {
  readonly tree: CodeTree;
  /** With a passage chosen, a code is applied to it; without, its codings are shown in the text. */
  readonly applies: boolean;
  readonly chosen: number | undefined;
  onChoose(id: number): void;
}

/** The codebook next to the text: codes, their numbers and definitions. */
export function CodebookPanel({ tree, applies, chosen, onChoose }: Props) {
  const [wanted, setWanted] = useState('');
  const sought = wanted.trim().toLowerCase();
  const { categories, codes } = sought === '' ? tree : found(tree, sought);
  return (
    <section className="card codebook-panel" aria-label="Codebook">
      <h3>Codebook</h3>
      <input
        type="search"
        aria-label="Find a code"
        placeholder="Find a code"
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      <p className="muted small">
        {applies ? 'Choose a code for the passage.' : 'Choose a code to go through its passages.'}
      </p>
      <nav aria-label="Codes" className="code-tree">
        <Branch categories={categories} codes={codes} chosen={chosen} onChoose={onChoose} />
      </nav>
    </section>
  );
}

/** Codes whose name or definition has the word, in their categories. */
function found({ categories, codes }: CodeTree, sought: string): CodeTree {
  const has = ({ name, memo }: Code) => `${name} ${memo}`.toLowerCase().includes(sought);
  const pick = (code: Code): Code[] => {
    const children = code.children.flatMap(pick);
    return has(code) || children.length > 0 ? [{ ...code, children }] : [];
  };
  const within = (category: Category): Category[] => {
    const inner = found({ categories: category.categories, codes: category.codes }, sought);
    return inner.categories.length + inner.codes.length > 0 ? [{ ...category, ...inner }] : [];
  };
  return { categories: categories.flatMap(within), codes: codes.flatMap(pick) };
}

/** The definition of the code that is chosen. */
export function Definition({ code }: { readonly code: Code | undefined }) {
  if (!code?.memo) return null;
  return (
    <p className="small muted">
      <UntrustedText text={code.memo} />
    </p>
  );
}
