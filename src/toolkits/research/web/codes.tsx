import { type CSSProperties, type FormEvent, useState } from 'react';
import { Empty } from '../../../web/ui/badge.tsx';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { CodeDetail } from './code-detail.tsx';
import { newColour } from './colours.ts';
import { type Category, type Code, flatCodes, useView } from './data.ts';
import { Duplicates } from './duplicates.tsx';

interface Props {
  /** Whether codes may be compared by machine. */
  readonly analysis: boolean;
  onShow(source: number, start: number, end: number): void;
}

/** The code tree, one code in detail, and codes that may be the same. */
export function Codes({ analysis, onShow }: Props) {
  const act = useAct();
  const tree = useView('codes', {}, { topics: ['approvals', 'research.changed'] });
  const [chosen, setChosen] = useState<number>();
  const [name, setName] = useState('');
  if (!tree.data) return <ErrorNotice error={tree.error} />;
  const codes = flatCodes(tree.data);
  const current = codes.find(({ id }) => id === chosen) ?? codes[0];
  const create = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act('create_code', { name: name.trim(), color: newColour(codes.length) }, 'Created.');
    if (!done.ok) return;
    setName('');
    await tree.refresh();
    setChosen((done.data as { code_id: number }).code_id);
  };
  return (
    <div className="codes">
      <div className="stack">
        <form className="row nowrap" onSubmit={(event) => void create(event)}>
          <input
            aria-label="Name of a new code"
            placeholder="New code"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <Button type="submit" disabled={name.trim() === ''}>
            Create
          </Button>
        </form>
        {codes.length === 0 ? (
          <Empty title="The codebook is empty" icon="tag">
            <p>
              Create a code above, or let an agent suggest some with <code>suggest_new_code</code>.
            </p>
          </Empty>
        ) : (
          <nav aria-label="Codebook" className="code-tree">
            <Branch
              categories={tree.data.categories}
              codes={tree.data.codes}
              chosen={current?.id}
              onChoose={setChosen}
            />
          </nav>
        )}
      </div>
      <div className="stack">
        {current && <CodeDetail key={current.id} code={current} onShow={onShow} onChanged={tree.refresh} />}
        {analysis && codes.length > 1 && <Duplicates onMerged={tree.refresh} />}
      </div>
    </div>
  );
}

interface BranchProps {
  readonly categories: readonly Category[];
  readonly codes: readonly Code[];
  readonly chosen: number | undefined;
  onChoose(id: number): void;
}

export function Branch({ categories, codes, chosen, onChoose }: BranchProps) {
  return (
    <ul>
      {categories.map((category) => (
        <li key={`category-${category.id}`}>
          <details open>
            <summary>
              <UntrustedText text={category.name} />
            </summary>
            <Branch
              categories={category.categories}
              codes={category.codes}
              chosen={chosen}
              onChoose={onChoose}
            />
          </details>
        </li>
      ))}
      {codes.map((code) => (
        <li key={code.id}>
          <button
            type="button"
            className="code-choice"
            aria-current={code.id === chosen ? 'true' : undefined}
            onClick={() => onChoose(code.id)}
          >
            <span className="code-name" style={{ '--code': code.color } as CSSProperties}>
              <UntrustedText text={code.name} />
            </span>
            <span className="muted small">{code.segment_count}</span>
          </button>
          {code.children.length > 0 && (
            <Branch categories={[]} codes={code.children} chosen={chosen} onChoose={onChoose} />
          )}
        </li>
      ))}
    </ul>
  );
}
