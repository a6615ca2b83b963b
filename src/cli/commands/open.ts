import { execFile } from 'node:child_process';
import { createSignInLink } from '../../web/sign-in.ts';
import { type GlobalOptions, withApp } from '../context.ts';
import { print, printJson } from '../output.ts';
import { runningServer } from '../running-server.ts';

/** Prints a link that signs the browser in once, and opens it where there is a desktop. */
export function open(global: GlobalOptions, options: { browser?: boolean }): Promise<void> {
  return withApp(global, async (app) => {
    const { database, person, config, now, env } = app;
    const { host, port, public_url: publicUrl } = config.server;
    const configured = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
    const running = publicUrl?.replace(/\/$/, '') ?? (await runningServer(app));
    const origin = running ?? configured;
    const link = await createSignInLink(database, person, origin, now());
    if (global.json) return printJson({ url: link });
    print(
      `${link}\n\nThe link signs your browser in once, within ten minutes. \`countersign up\` must be running.`,
    );
    // Whoever listens there instead would be shown the link.
    if (running === undefined) {
      print('No server of this data directory answers there now: start it before you open the link.');
      return;
    }
    const command =
      process.platform === 'darwin' ? 'open' : env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
    if (options.browser !== false && command) execFile(command, [link], () => {});
  });
}
