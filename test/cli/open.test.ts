import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/app/open-storage.ts';
import { storeProof } from '../../src/kernel/store/database.ts';
import { openTerminal, type Terminal } from './support.ts';

const ABSENT = 'No server for this data directory is responding there';

describe('the link that signs a browser in', () => {
  let terminal: Terminal;
  let answer: (challenge: string) => string;
  const server = createServer(({ url }: IncomingMessage, response) => {
    const challenge = new URL(url ?? '', 'http://x').searchParams.get('challenge') ?? '';
    response.end(JSON.stringify({ name: 'countersign', store: answer(challenge) }));
  });

  beforeEach(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    terminal = openTerminal(`[server]\nport = ${(server.address() as AddressInfo).port}\n`);
  });
  afterEach(() => {
    terminal.close();
    server.close();
  });

  it('is not opened at a server that only repeats what one of this store once answered', async () => {
    answer = () => '';
    expect((await terminal.run('open')).out).toContain(ABSENT);
    const database = await openStorage({ url: join(terminal.home, 'countersign.db') });
    const prove = await storeProof(database);
    await database.close();
    answer = prove;
    expect((await terminal.run('open', '--no-browser')).out).not.toContain(ABSENT);
    const heard = prove('a challenge of another time');
    answer = () => heard;
    expect((await terminal.run('open')).out).toContain(ABSENT);
  });
});
