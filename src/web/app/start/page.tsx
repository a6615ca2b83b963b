import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../components/button.tsx';
import { CopyBox } from '../components/copy-box.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Tabs } from '../components/tabs.tsx';
import { callTool, roomPath, useQuery } from '../lib/api.ts';
import { useSession } from '../lib/session.ts';
import '../styles/start.css';

type ClientKind = 'stdio' | 'http' | 'claude' | 'codex';

/** Configurations an agent's own program understands, for this very server. */
const configurations = (origin: string): Readonly<Record<ClientKind, { where: string; text: string }>> => ({
  stdio: {
    where:
      'Most programs (Claude Desktop, Cursor, Windsurf and others) take this in their MCP settings file.',
    text: JSON.stringify(
      { mcpServers: { countersign: { command: 'countersign', args: ['mcp', 'serve'] } } },
      null,
      2,
    ),
  },
  http: {
    where: 'Programs that speak Streamable HTTP reach this running server directly.',
    text: JSON.stringify({ mcpServers: { countersign: { type: 'http', url: `${origin}/mcp` } } }, null, 2),
  },
  claude: {
    where: 'In a terminal:',
    text: 'claude mcp add countersign -- countersign mcp serve',
  },
  codex: {
    where: 'In ~/.codex/config.toml:',
    text: '[mcp_servers.countersign]\ncommand = "countersign"\nargs = ["mcp", "serve"]',
  },
});

interface Provider {
  readonly sandbox: boolean;
}

/** The first two minutes: what is here, one agent connected, one approval. Nothing needs an account. */
export default function StartPage() {
  const { session } = useSession();
  const [kind, setKind] = useState<ClientKind>('stdio');
  const hasX = session.toolkits.includes('x');
  const { data } = useQuery<{ data: Provider }>(hasX ? roomPath('x', 'provider') : undefined);
  const chosen = configurations(location.origin)[kind];
  return (
    <Page title="Getting started">
      <ol className="steps">
        <li className="card">
          <h2>What is here</h2>
          <p>
            Agents call tools through Countersign. Reads go through; what others would see, what costs money
            or what destroys something waits in your <Link href="/">inbox</Link> until you say yes. Every call
            leaves evidence you can <Link href="/activity">verify</Link>.
          </p>
          {data?.data.sandbox ? (
            <Notice tone="good">
              <p>
                X is a sandbox on this machine: posts, followers and messages are made up and nothing leaves
                your computer. Connect a real account later with <code>countersign auth x</code>.
              </p>
            </Notice>
          ) : null}
        </li>
        <li className="card">
          <h2>Your first approval</h2>
          <p>Make a call the way an agent would. It will stop and wait for your word.</p>
          <SampleCall available={hasX} />
        </li>
        <li className="card">
          <h2>Connect an agent</h2>
          <Tabs<ClientKind>
            label="Kind of client"
            current={kind}
            onChange={setKind}
            tabs={[
              { key: 'stdio', label: 'Any client' },
              { key: 'http', label: 'HTTP' },
              { key: 'claude', label: 'Claude Code' },
              { key: 'codex', label: 'Codex' },
            ]}
          >
            <p>{chosen.where}</p>
            <CopyBox text={chosen.text} label="the configuration" />
          </Tabs>
          <p>
            Then ask it, for example: <em>“Post on X that the beta is open.”</em> The post appears in your{' '}
            <Link href="/">inbox</Link>.
          </p>
        </li>
        <li className="card">
          <h2>Set the rules</h2>
          <p>
            What each agent may do, rules of your own with a preview on past calls, and a pause for everything
            are under <Link href="/agents">Agents</Link>.
          </p>
        </li>
      </ol>
    </Page>
  );
}

function SampleCall({ available }: { readonly available: boolean }) {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  if (!available)
    return <p className="muted">The toolkit x is not enabled here, so there is no sample to make.</p>;
  const make = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const text = `Hello from Countersign. My first countersigned post, at ${new Date().toLocaleTimeString('en')}.`;
      const result = await callTool('x_post_tweet', { text });
      if (result.status === 'routed' && result.approval_id) return navigate(`/inbox/${result.approval_id}`);
      setProblem(
        result.status === 'ok'
          ? 'Your policy let the post through without asking, so nothing waits.'
          : (result.message ?? `The call ended as ${result.status}.`),
      );
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <div className="stack">
      {problem ? <Notice tone="warn">{problem}</Notice> : null}
      <div>
        <Button tone="primary" disabled={busy} onClick={() => void make()}>
          Make a sample call
        </Button>
      </div>
    </div>
  );
}
