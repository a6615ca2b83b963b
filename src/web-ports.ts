import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentCommand } from './agent-command.ts';
import type { App } from './app.ts';
import type { JsonObject } from './contract/json.ts';
import { exportRun, signingKeys } from './kernel/audit/index.ts';
import { VERSION } from './lib/version.ts';
import type { WebPorts } from './web/ports.ts';

/** The built pages lie beside the bundle, whichever chunk this code ended up in. */
function assetsFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return join(here.endsWith('chunks') ? dirname(here) : here, 'web');
}

/** What the web application gets of this one. */
export function webPorts(app: App): WebPorts {
  const { kernel, database, inventory, config, checkpoints } = app;
  return {
    kernel,
    ports: app.ports,
    inventory,
    database,
    log: app.log,
    version: VERSION,
    toolkits: config.toolkits,
    profile: config.profile,
    assets: assetsFolder(),
    policy: () => app.policy.current,
    modes: () => app.policy.modes,
    overrides: () => app.policy.overrides(),
    setOverrides: (overrides, by) => app.policy.setOverrides(overrides, by),
    policyInput: () => app.policy.input(),
    async exportRun(run) {
      await kernel.flush();
      const bundle = await exportRun(database, run, {
        artifacts: kernel.artifacts,
        signer: await checkpoints.signer(),
      });
      return bundle && (structuredClone(bundle) as unknown as JsonObject);
    },
    async logKeys() {
      const { key } = await checkpoints.signer();
      return [...new Set([key, ...(await signingKeys(database))].map(({ text }) => text))];
    },
    agentCommand: agentCommand(app),
    now: app.now,
  };
}
