import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ToolFault } from '../../../contract/faults.ts';
import { type Authorization, codeFromRedirect } from './authorize.ts';

export interface Callback {
  readonly redirectUri: string;
  /** Resolves with the code once the browser comes back. A redirect with a wrong state is refused and waited past. */
  wait(authorization: Authorization, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

const PATH = '/callback';

/** Listens on this machine for the browser to come back from X. Port 0 takes any free one. */
export async function listenForCallback(host: string, port: number): Promise<Callback> {
  let handle: (params: URLSearchParams) => { status: number; text: string } = () => ({
    status: 503,
    text: 'No sign-in is under way.',
  });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const { status, text } =
      request.method === 'GET' && url.pathname === PATH
        ? handle(url.searchParams)
        : { status: 404, text: 'Not found.' };
    response.writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'",
      connection: 'close',
    });
    response.end(`<!doctype html><title>Countersign</title><p>${text}</p>`);
  });
  await listen(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  return {
    redirectUri: `http://${host}:${bound}${PATH}`,
    wait: (authorization, signal) =>
      new Promise((resolve, reject) => {
        const stop = () =>
          reject(
            new ToolFault('timeout', 'Nobody finished the sign-in in time; run `countersign auth x` again'),
          );
        if (signal.aborted) return stop();
        signal.addEventListener('abort', stop, { once: true });
        handle = (params) => {
          try {
            const code = codeFromRedirect(params, authorization);
            signal.removeEventListener('abort', stop);
            resolve(code);
            return { status: 200, text: 'Signed in. You can close this page.' };
          } catch (error) {
            // Anyone can open this address; only X's own refusal with the right state ends the wait.
            if (error instanceof ToolFault && error.code === 'x_forbidden') {
              reject(error);
              return { status: 200, text: 'Access was not granted. You can close this page.' };
            }
            return { status: 400, text: 'This address does not belong to the sign-in that is under way.' };
          }
        };
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new ToolFault(
          'unavailable',
          `Cannot listen on ${host}:${port}; set auth.callback_port or use paste mode`,
          { cause: error },
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
}
