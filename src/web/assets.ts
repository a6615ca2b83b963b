import { createReadStream, existsSync, statSync } from 'node:fs';
import { extname, join, normalize, sep } from 'node:path';
import { Readable } from 'node:stream';
import type { Hono } from 'hono';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** The built pages. Every path that is not a file is the application itself, which has its own routes. */
export function serveAssets(app: Hono, folder: string | undefined): void {
  app.get('*', (context) => {
    if (!folder || !existsSync(join(folder, 'index.html'))) {
      return context.text('This build has no web app. Run `npm run build`.', 404);
    }
    const path = new URL(context.req.url).pathname;
    const wanted = fileAt(folder, path);
    // A page of an earlier build asks for a part that is gone: it must not get a page for a script.
    if (!wanted && path.startsWith('/assets/')) return context.text('There is no such file.', 404);
    const file = wanted ?? join(folder, 'index.html');
    const hashed = wanted !== undefined && /-[\w-]{8,}\.\w+$/.test(file);
    const headers = {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    };
    return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream, { headers });
  });
}

/** The file of that address inside the folder; undefined when there is none, or the address is no text at all. */
function fileAt(folder: string, path: string): string | undefined {
  try {
    const wanted = normalize(join(folder, decodeURIComponent(path)));
    return wanted.startsWith(folder + sep) && existsSync(wanted) && statSync(wanted).isFile()
      ? wanted
      : undefined;
  } catch {
    return undefined;
  }
}
