import type { WebServer } from '../web/support.ts';

type Json = Record<string, unknown>;

/** A signed-in person who uses the API of the pages without a browser. */
export interface PagePerson {
  /** Any answer, with its status. */
  answer(path: string, method?: string, body?: object): Promise<{ status: number; body: Json }>;
  get(path: string): Promise<Json>;
  post(path: string, body: object): Promise<Json>;
  put(path: string, body: object): Promise<Json>;
}

export async function signInWithoutBrowser(server: WebServer): Promise<PagePerson> {
  const signedIn = await fetch(await server.link(), { redirect: 'manual' });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0];
  if (!cookie) throw new Error(`Signing in gave no cookie: ${signedIn.status} ${await signedIn.text()}`);
  const send = async (method: string, path: string, body?: object, csrf = '') => {
    const response = await fetch(`${server.url}/api${path}`, {
      method,
      headers: { cookie, 'content-type': 'application/json', 'x-csrf-token': csrf },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Json };
  };
  const request = async (...sent: Parameters<typeof send>): Promise<Json> => {
    const { status, body } = await send(...sent);
    if (status >= 400) throw new Error(`${sent[0]} ${sent[1]}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const csrf = String((await request('GET', '/session')).csrf);
  return {
    answer: (path, method = 'GET', body) => send(method, path, body, csrf),
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body, csrf),
    put: (path, body) => request('PUT', path, body, csrf),
  };
}
