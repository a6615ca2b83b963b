import { useState } from 'react';
import type { Snippet } from '../routes/shapes.ts';
import { CopyBox } from './field.tsx';

/** Clients that connect to this running server need no command; the browser knows its address. */
export const overHttp = (token?: string): Snippet => ({
  clients: [{ name: 'http', title: 'HTTP' }],
  text: JSON.stringify(
    {
      mcpServers: {
        countersign: {
          type: 'http',
          url: `${location.origin}/mcp`,
          ...(token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } }),
        },
      },
    },
    null,
    2,
  ),
});

const FIRST = 3;

/** What to paste into a client, by client; the most common ones are one press away. */
export function Snippets({ snippets }: { readonly snippets: readonly Snippet[] }) {
  const clients = snippets.flatMap((snippet) => snippet.clients.map((client) => ({ ...client, snippet })));
  const [name, setName] = useState(clients[0]?.name);
  const chosen = clients.find((client) => client.name === name);
  const shown = clients.slice(0, FIRST);
  const rest = clients.slice(FIRST);
  return (
    <div className="snippets">
      <div className="row">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset has a frame and a legend of its own */}
        <div className="segments" role="group" aria-label="Client">
          {shown.map((client) => (
            <button
              key={client.name}
              type="button"
              className="segment"
              aria-pressed={client.name === name}
              onClick={() => setName(client.name)}
            >
              {client.title}
            </button>
          ))}
        </div>
        {rest.length > 0 ? (
          <select
            aria-label="Other client"
            className="snippets-more"
            value={rest.some((client) => client.name === name) ? name : ''}
            onChange={({ target }) => setName(target.value || shown[0]?.name)}
          >
            <option value="">Other client…</option>
            {rest.map((client) => (
              <option key={client.name} value={client.name}>
                {client.title}
              </option>
            ))}
          </select>
        ) : null}
      </div>
      {chosen ? <CopyBox text={chosen.snippet.text} label="the configuration" /> : null}
    </div>
  );
}
