import type { GlobalOptions } from '../../contract/command.ts';
import type { Profile } from '../../contract/tool.ts';
import { serve } from '../../daemon/up.ts';
import { withApp } from '../context.ts';

interface UpOptions {
  readonly port?: string;
  readonly host?: string;
  readonly profile?: Profile;
  readonly toolkits?: string;
}

/** Runs the server with the options as configuration flags. */
export const up = (global: GlobalOptions, { port, host, profile, toolkits }: UpOptions): Promise<void> =>
  withApp(global, (app) => serve(app, { json: global.json === true }), {
    isServing: true,
    flags: {
      'server.port': port,
      'server.host': host,
      profile,
      toolkits: toolkits?.split(',').map((id) => id.trim()),
    },
  });
