import { describeFileError } from '../lib/file-error.ts';

/** The store cannot be used: says which one, never with a password, and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** Words what a driver says when the store at `url` is opened. */
export function storeError(url: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = isPostgresUrl(url)
    ? postgresProblem(url, code, text)
    : sqliteProblem(url, code, text, error);
  return new StoreError(message, { cause: error });
}

export const isPostgresUrl = (url: string): boolean => /^postgres(ql)?:\/\//.test(url);

/** The address without password and options, which may hold one too. */
export function shownUrl(url: string): string {
  if (!isPostgresUrl(url)) return url;
  try {
    const { protocol, username, host, pathname } = new URL(url);
    return `${protocol}//${username ? `${username}@` : ''}${host}${pathname}`;
  } catch {
    return 'postgres://… (not a valid URL)';
  }
}

function postgresProblem(url: string, code: string, text: string): string {
  const store = `Cannot open the PostgreSQL database (storage.url is ${shownUrl(url)})`;
  switch (code) {
    case 'ECONNREFUSED':
      return `${store}: no server is listening there. Start PostgreSQL, or correct host and port in storage.url.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${store}: unknown host name. Correct the host in storage.url, or check the network.`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${store}: the host cannot be reached. Check the network, its firewall, and the host in storage.url.`;
    case '3D000':
      return `${store}: this database does not exist. Create it with createdb, or correct its name in storage.url.`;
    case '28P01':
    case '28000':
      return `${store}: the server rejected this user or password. Correct them in storage.url.`;
    case '42501':
      return `${store}: this user may not create or change tables there. Grant it that right, or name another user in storage.url.`;
    case 'ERR_INVALID_URL':
      return `${store}. Write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE; special characters in a password are percent-encoded.`;
    default:
      return `${store}: ${text || code}`;
  }
}

function sqliteProblem(path: string, code: string, text: string, error: unknown): string {
  const store = `Cannot open the database ${path}`;
  const elsewhere = 'or set storage.url or COUNTERSIGN_HOME to a writable location';
  if (code === 'SQLITE_NOTADB')
    return `${store}: this file is not a SQLite database. Name another file as storage.url, or restore a backup with \`countersign restore FOLDER --force\`.`;
  if (code.startsWith('SQLITE_CORRUPT'))
    return `${store}: this file is damaged. Restore a backup with \`countersign restore FOLDER --force\`.`;
  // libsql gives extended codes, like that of a read-only folder, no name.
  if (code.startsWith('SQLITE_READONLY') || text.includes('readonly database'))
    return `${store} for writing. Grant yourself write access to the file and its directory, ${elsewhere}.`;
  if (code === 'SQLITE_FULL') return `${store}: the disk is full. Free some space, ${elsewhere}.`;
  if (code.startsWith('SQLITE_BUSY'))
    return `${store}: it is locked by another process. Wait for it or stop it, then retry.`;
  // libsql's own text for SQLITE_CANTOPEN, which comes without a code.
  if (code.startsWith('SQLITE_CANTOPEN') || /^ConnectionFailed\(.*: 14"\)$/.test(text))
    return `${store}: it is a directory, or you may not read and write it. Grant yourself access, ${elsewhere}.`;
  const problem = describeFileError(error);
  if (problem) return `${store}: ${problem} Fix that, ${elsewhere}.`;
  return `${store}: ${text}`;
}
