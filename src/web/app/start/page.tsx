import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../components/button.tsx';
import { CopyBox } from '../components/copy-box.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Tabs } from '../components/tabs.tsx';
import { roomPath, useQuery } from '../lib/api.ts';
import { isRecord, type JsonRecord, textAt } from '../lib/json.ts';
import { useSession } from '../lib/session.ts';
import '../styles/start.css';

type ClientKind = 'stdio' | 'http' | 'claude' | 'codex';

interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const show = (value: unknown): string => JSON.stringify(value, null, 2);
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Configurations an agent's own program understands, for this very server and its store. */
function configurations(
  origin: string,
  { command, args, env }: Command,
): Readonly<Record<ClientKind, { where: string; text: string }>> {
  const pairs = Object.entries(env);
  const stdio = { command, args, ...(pairs.length > 0 ? { env } : {}) };
  const flags = pairs.flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  return {
    http: {
      where: 'Programs that speak Streamable HTTP reach this running server directly.',
      text: show({ mcpServers: { countersign: { type: 'http', url: `${origin}/mcp` } } }),
    },
    stdio: {
      where:
        'Most programs (Claude Desktop, Cursor, Windsurf and others) take this in their MCP settings file.',
      text: show({ mcpServers: { countersign: stdio } }),
    },
    claude: {
      where: 'In a terminal:',
      text: ['claude', 'mcp', 'add', 'countersign', ...flags, '--', command, ...args].map(quoted).join(' '),
    },
    codex: {
      where: 'In ~/.codex/config.toml:',
      text: [
        '[mcp_servers.countersign]',
        `command = ${JSON.stringify(command)}`,
        `args = ${JSON.stringify(args)}`,
        ...(pairs.length > 0
          ? [`env = { ${pairs.map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(', ')} }`]
          : []),
      ].join('\n'),
    },
  };
}

interface Provider {
  readonly sandbox: boolean;
}

/** The first two minutes: what is here, one agent connected, one approval. Nothing needs an account. */
export default function StartPage() {
  const { session } = useSession();
  const [kind, setKind] = useState<ClientKind>('stdio');
  const hasX = session.toolkits.includes('x');
  const { data } = useQuery<{ data: Provider }>(hasX ? roomPath('x', 'provider') : undefined);
  const { data: command } = useQuery<Command>('/agent-command');
  const chosen = command && configurations(location.origin, command)[kind];
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
          <p>
            Let an agent without a name ask for a post. It stops and waits for your word: approve it with{' '}
            <kbd className="key">a</kbd>, and take it back with <kbd className="key">u</kbd>.
          </p>
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
            {chosen ? (
              <>
                <p>{chosen.where}</p>
                <CopyBox text={chosen.text} label="the configuration" />
              </>
            ) : null}
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

/** By the very door agents use, without a token, as an agent on this machine would. */
async function askAsAgent(args: JsonRecord): Promise<{ approval?: number; message?: string }> {
  const response = await fetch('/tools/x_post_tweet', {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: args }),
  });
  const reply: unknown = await response.json();
  const data = isRecord(reply) ? reply.data : undefined;
  if (isRecord(data) && typeof data.approval_queue_id === 'number')
    return { approval: data.approval_queue_id };
  const error = isRecord(reply) ? reply.error : undefined;
  const message = typeof error === 'string' ? error : textAt(error, 'message');
  return message === undefined ? {} : { message };
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
      const result = await askAsAgent({ text });
      if (result.approval) return navigate(`/inbox/${result.approval}`);
      setProblem(result.message ?? 'Your policy let the post through without asking, so nothing waits.');
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
