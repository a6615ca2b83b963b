import { useState } from 'react';
import { Link } from 'wouter';
import type { serverViews } from '../../../contract/server-views.ts';
import type { ViewData } from '../../../contract/view.ts';
import { Badge, Fact, sentenceCase, shortName } from '../../ui/badge.tsx';
import { Button, Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { EffectBadge } from '../../ui/outcome-badge.tsx';
import { useAct, viewsOf } from '../../ui/page-data.ts';
import { Page, TimeAgo } from '../../ui/page-head.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { Health } from './health.tsx';
import { TryTool } from './try-tool.tsx';

const { useView } = viewsOf<typeof serverViews>('gateway');

export type ServerTool = ViewData<(typeof serverViews)['server']>['tools'][number];

const EVERY_MS = 5_000;
const EFFECTS = ['read', 'change', 'destroy'] as const;

/** One server: what waits for trust first, then its tools, then what it wrote. */
export function ServerDetail({ name }: { readonly name: string }) {
  const options = { topics: ['approvals', 'config'], everyMs: EVERY_MS };
  const { data, error, refresh } = useView('server', { name }, options);
  const waiting = data?.tools.filter(({ state }) => state === 'new' || state === 'changed') ?? [];
  const others = data?.tools.filter((one) => !waiting.includes(one)) ?? [];
  return (
    <Page title={`Server ${name}`} actions={data?.listed_at ? <Restart server={name} /> : null}>
      <Link href="/servers" className="back-link small">
        <Icon name="left" small /> All servers
      </Link>
      <ErrorNotice error={error} />
      {data ? (
        <>
          <dl className="fact-strip server-facts">
            <Fact name="State">{sentenceCase(data.server.state)}</Fact>
            <Fact name="Health">
              <Health {...data.server} />
            </Fact>
            <Fact name="Target">
              <UntrustedText text={data.server.target} />
            </Fact>
            <Fact name="Listed">{data.listed_at ? <TimeAgo at={data.listed_at} /> : 'Never'}</Fact>
          </dl>
          <p className="muted">{data.server.changes_note}</p>
          {data.notes.map((note) => (
            <Notice key={note} tone="warn">
              <p>{note}</p>
            </Notice>
          ))}
          {waiting.length > 0 ? (
            <section className="stack" aria-label="Waiting for trust">
              <h2>Waiting for trust</h2>
              <Notice tone="warn">
                <p>
                  These definitions are refused until you trust them. The server wrote every word of them.
                </p>
              </Notice>
              {waiting.map((one) => (
                <ToolCard key={one.tool} server={name} tool={one} onTrusted={refresh} />
              ))}
            </section>
          ) : null}
          <section className="stack" aria-label="Tools">
            <h2>Tools</h2>
            {others.length === 0 ? <p className="muted">No trusted tools.</p> : null}
            {others.map((one) => (
              <ToolCard key={one.tool} server={name} tool={one} onTrusted={refresh} />
            ))}
          </section>
          <section className="stack" aria-label="Server log">
            <h2>Server log</h2>
            {data.log.length === 0 ? (
              <p className="muted">Nothing written yet.</p>
            ) : (
              <div className="code-box">
                <UntrustedText block text={data.log.join('\n')} />
              </div>
            )}
          </section>
        </>
      ) : null}
    </Page>
  );
}

function Restart({ server }: { readonly server: string }) {
  const act = useAct();
  const done = `${server} will be restarted before its next call.`;
  return (
    <Button
      small
      title="Calls in flight finish first"
      onClick={() => void act('server_restart', { server }, done)}
    >
      Restart server
    </Button>
  );
}

interface CardProps {
  readonly server: string;
  readonly tool: ServerTool;
  onTrusted(): Promise<void> | void;
}

function ToolCard({ server, tool, onTrusted }: CardProps) {
  const [trying, setTrying] = useState(false);
  const isCallable = tool.state === 'trusted';
  return (
    <article className="block server-tool" aria-label={tool.tool}>
      <header className="block-head server-tool-head">
        <h3 className="mono" title={`Definition ${tool.hash}`}>
          <UntrustedText text={tool.tool} />
        </h3>
        <EffectBadge effect={tool.effect} />
        {tool.claimed === tool.effect ? null : (
          <Badge title="Annotations">server claims {tool.claimed}</Badge>
        )}
        <Badge tone={tool.state === 'trusted' ? 'good' : tool.state === 'gone' ? 'neutral' : 'warn'}>
          {tool.state}
        </Badge>
        {isCallable ? (
          <Button
            small
            className="server-try"
            aria-label={trying ? `Close ${tool.tool}` : `Try ${tool.tool}`}
            aria-expanded={trying}
            onClick={() => setTrying(!trying)}
          >
            {trying ? 'Close' : 'Try'}
          </Button>
        ) : null}
      </header>
      <div className="server-about">
        <p className="said">
          <UntrustedText text={tool.description || 'No description'} />
        </p>
        {tool.decided_by && tool.decided_at ? (
          <p className="meta">
            Trusted by {shortName(tool.decided_by)} <TimeAgo at={tool.decided_at} />
          </p>
        ) : null}
        {tool.warnings.map((warning) => (
          <p key={warning} className="server-warning">
            <Icon name="warn" small /> {warning}
          </p>
        ))}
      </div>
      {tool.changes.length > 0 ? <Changes changes={tool.changes} /> : null}
      {tool.state === 'new' || tool.state === 'changed' ? (
        <Trust server={server} tool={tool} onTrusted={onTrusted} />
      ) : null}
      {trying ? <TryTool tool={tool} /> : null}
    </article>
  );
}

function Changes({ changes }: Pick<ServerTool, 'changes'>) {
  const shown = (value: unknown): string =>
    typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    <dl className="server-changes">
      {changes.map(({ field, before, after }) => (
        <Fact key={field} name={<UntrustedText text={field || 'definition'} />}>
          {before === null ? null : (
            <del>
              <UntrustedText text={shown(before)} />
            </del>
          )}
          {after === null ? null : (
            <ins>
              <UntrustedText text={shown(after)} />
            </ins>
          )}
        </Fact>
      ))}
    </dl>
  );
}

function Trust({ server, tool, onTrusted }: CardProps) {
  const act = useAct();
  const [effect, setEffect] = useState(tool.effect);
  const trust = async (): Promise<void> => {
    const tools = [{ name: tool.tool, hash: tool.hash, effect }];
    const { ok } = await act('server_trust', { server, tools }, `Trusted ${tool.tool}.`);
    if (ok) await onTrusted();
  };
  return (
    <div className="block-foot server-trust">
      <Field label={`Effect of ${tool.tool}`}>
        {(attributes) => (
          <select
            {...attributes}
            value={effect}
            onChange={({ target }) => setEffect(target.value as typeof effect)}
          >
            {EFFECTS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      </Field>
      <Button tone="primary" onClick={() => void trust()}>
        Trust {tool.tool}
      </Button>
    </div>
  );
}
