import { execFile } from 'node:child_process';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { runningServer } from '../../daemon/running-server.ts';
import { httpUrl } from '../../lib/http-url.ts';
import { internalPath } from '../../lib/internal-path.ts';
import { print, printJson } from '../../terminal/output.ts';
import { createSignInLink } from '../../web/sign-in.ts';
import { withApp } from '../context.ts';
import { refuseAgentShell } from '../person-here.ts';

/** Browsers offer passkeys on names only, never on a bare address. */
const byName = (origin: string): string => origin.replace('//127.0.0.1:', '//localhost:');

/** Prints a link that signs the browser in once, and opens it where there is a desktop. */
export function open(
  global: GlobalOptions,
  page: string | undefined,
  options: { browser?: boolean },
): Promise<void> {
  const path = readPage(page);
  return withApp(global, async (app) => {
    const { database, person, config, now, env } = app;
    await refuseAgentShell(app);
    const { host, port, public_url: publicUrl } = config.server;
    const configured = httpUrl(host === '0.0.0.0' ? '127.0.0.1' : host, port);
    const running = publicUrl?.replace(/\/$/, '') ?? (await runningServer(app));
    const origin = byName(running ?? configured);
    const link = await createSignInLink(database, person, origin, now(), path);
    if (global.json) return printJson({ url: link });
    print(
      `${link}\n\nThis link signs in one browser, once, and expires in ten minutes. \`countersign up\` must be running.`,
    );
    // Another program that listens there would receive the link.
    if (running === undefined) {
      print('No server for this data directory is responding there. Start it before you open the link.');
      return;
    }
    const command =
      process.platform === 'darwin' ? 'open' : env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
    if (options.browser !== false && command) execFile(command, [link], () => {});
  });
}

/** An approval by its number, or any page by its path. */
function readPage(page: string | undefined): string | undefined {
  if (page === undefined) return undefined;
  const path = internalPath(/^\d+$/.test(page) ? `/inbox/${page}` : page);
  if (path === undefined)
    throw new CliError(`"${page}" is not a page. Use the ID of an approval, or a path such as /activity.`, 2);
  return path;
}
