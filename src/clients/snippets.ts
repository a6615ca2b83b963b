import { sep } from 'node:path';
import { shellWord } from '../lib/text.ts';
import { replaceServers } from './file.ts';
import type { ClientFormat, OwnCommand, Place } from './formats.ts';

/** What connects a client: a command that starts the server, or the address of a running one. */
export type Connection =
  | OwnCommand
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Text to paste, once for all clients that are configured with the same. */
export interface Snippet {
  readonly clients: readonly { readonly name: string; readonly title: string; readonly file?: string }[];
  readonly text: string;
}

export function snippetsFor(
  clients: readonly ClientFormat[],
  place: Place,
  connection: Connection,
): Snippet[] {
  const made = clients.flatMap((client) => {
    const text = textFor(client, connection);
    return text === undefined ? [] : [{ client, text }];
  });
  return [...new Set(made.map(({ text }) => text))].map((text) => ({
    text,
    clients: made
      .filter((one) => one.text === text)
      .map(({ client: { name, title, user, ...client } }) =>
        client.mark ? { name, title } : { name, title, file: shortened(user(place)[0] ?? '', place) },
      ),
  }));
}

export const describeSnippet = ({ clients, text }: Snippet): string =>
  [
    ...clients.map(({ title, file }) => (file === undefined ? title : `${title}: ${file}`)),
    text.replace(/\n+$/, ''),
  ].join('\n');

function textFor(client: ClientFormat, connection: Connection): string | undefined {
  if (client.name === 'claude-code') return claudeCommand(connection);
  const entry =
    'url' in connection ? client.remote?.(connection.url, connection.headers) : client.entry(connection);
  return entry && replaceServers(client, '', client.table, [], entry);
}

/** Claude Code has a command of its own for this; its file is written by the program all the time. */
function claudeCommand(connection: Connection): string {
  const words =
    'url' in connection
      ? [
          ...['--transport', 'http', 'countersign', connection.url],
          ...Object.entries(connection.headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
        ]
      : [
          'countersign',
          ...Object.entries(connection.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
          ...['--', connection.command, ...connection.args],
        ];
  return ['claude', 'mcp', 'add', '--scope', 'user', ...words].map(shellWord).join(' ');
}

const shortened = (path: string, { home }: Place): string =>
  path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
