import type { PasskeyPage } from './routes/shapes.ts';

export interface PageOptions {
  readonly publicUrl: string | undefined;
  /** A domain that the public address belongs to; unset: its host. */
  readonly rpId: string | undefined;
}

const LOCAL_NAME = /^([a-z0-9-]+\.)?localhost$/;

export function passkeyPage(request: Request, { publicUrl, rpId }: PageOptions): PasskeyPage {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  const { hostname, port } = new URL(`http://${host}`);
  if (publicUrl) {
    const own = new URL(publicUrl);
    if (own.host === host && (own.protocol === 'https:' || LOCAL_NAME.test(own.hostname)))
      return { usable: true, origin: own.origin, rpId: rpId ?? own.hostname };
    // Without HTTPS the public address would only send people back to where they are.
    if (!LOCAL_NAME.test(hostname))
      return { usable: false, origin: `http://${host}`, instead: `https://${own.host}` };
  }
  if (LOCAL_NAME.test(hostname)) return { usable: true, origin: `http://${host}`, rpId: hostname };
  return { usable: false, origin: `http://${host}`, instead: `http://localhost${port && `:${port}`}` };
}
