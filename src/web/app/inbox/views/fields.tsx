import { Foreign } from '../../components/foreign.tsx';
import { JsonView } from '../../components/json-view.tsx';
import type { Json, JsonRecord } from '../../lib/json.ts';

const isPlain = (value: Json): boolean => value === null || typeof value !== 'object';

/** Arguments by name where they are simple; anything deeper as JSON. */
export function FieldsView({ args }: { readonly args: JsonRecord }) {
  const entries = Object.entries(args);
  if (entries.length === 0) return <p className="muted">It takes no arguments.</p>;
  return (
    <dl className="facts">
      {entries.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>
            <Foreign text={name.replaceAll('_', ' ')} />
          </dt>
          <dd>
            {isPlain(value) ? (
              <Foreign block text={String(value)} />
            ) : (
              <JsonView value={value} label={name} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
