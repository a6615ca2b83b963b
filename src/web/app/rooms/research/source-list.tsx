import { Badge } from '../../components/badge.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { counted } from './counted.ts';
import type { Source } from './types.ts';

interface Props {
  readonly sources: readonly Source[];
  readonly current: number | undefined;
  onOpen(id: number): void;
}

export function SourceList({ sources, current, onOpen }: Props) {
  return (
    <nav aria-label="Sources" className="source-list">
      <ul className="plain-list">
        {sources.map((source) => (
          <li key={source.id}>
            <button
              type="button"
              className="source-choice"
              aria-current={source.id === current ? 'true' : undefined}
              onClick={() => onOpen(source.id)}
            >
              <Foreign text={source.name} />
              <span className="muted small">
                {source.has_text ? counted(source.code_count, 'coding') : source.type}
              </span>
              {source.off_limits && <Badge title="Agents cannot read this source">off limits</Badge>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
