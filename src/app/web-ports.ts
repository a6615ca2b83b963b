import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENTS } from '../clients/formats.ts';
import { snippetsFor } from '../clients/snippets.ts';
import type { JsonObject } from '../contract/json.ts';
import { exportRun, signingKeys } from '../kernel/log/index.ts';
import { renderMetrics } from '../kernel/prometheus.ts';
import { HoldBoard } from '../kernel/views/hold-board.ts';
import { VERSION } from '../lib/log.ts';
import { toolkitEntries } from '../toolkits/index.generated.ts';
import { Holds } from '../web/api/holds.ts';
import { passkeyPage } from '../web/passkey-page.ts';
import type { WebPorts } from '../web/ports.ts';
import { agentCommand } from './agent-command.ts';
import type { App } from './app.ts';
import { clientPlace } from './client-place.ts';

/** The built pages are next to the bundle, whichever chunk this code ended up in. */
function assetsFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return join(here.endsWith('chunks') ? dirname(here) : here, 'web');
}

/** By rank; one that is not part of the build (a test's own) has no title but its id. */
function enabledToolkits(ids: readonly string[]): WebPorts['toolkits'] {
  const listed = toolkitEntries.filter(({ id }) => ids.includes(id));
  const ranked = listed.toSorted((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity));
  const others = ids.filter((id) => !listed.some((entry) => entry.id === id));
  return [...ranked.map(({ id, title }) => ({ id, title })), ...others.map((id) => ({ id, title: id }))];
}

/** Answers the page of third-party servers; shown where there are any. */
const GATEWAY_PAGE = { id: 'gateway', title: 'Servers' };

/** What the web application gets of this one. */
export function webPorts(app: App): WebPorts {
  const { kernel, database, inventory, config, checkpoints } = app;
  const startedAt = app.now();
  return {
    kernel,
    ports: app.ports,
    inventory,
    database,
    holds: new Holds({
      approvals: kernel.approvals,
      seconds: config.approvals.hold_seconds,
      log: app.log,
      now: app.now,
      board: new HoldBoard(database, app.now),
      publish: () => kernel.events.publish('holds', {}),
    }),
    log: app.log,
    version: VERSION,
    toolkits: [...enabledToolkits(config.toolkits), ...(app.gateway ? [GATEWAY_PAGE] : [])],
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
    snippets(token) {
      const own = agentCommand(app);
      const env = token === undefined ? own.env : { ...own.env, COUNTERSIGN_TOKEN: token };
      return snippetsFor(CLIENTS, clientPlace(app.env), { ...own, env }).map(({ clients, text }) => ({
        clients: clients.map(({ name, title }) => ({ name, title })),
        text,
      }));
    },
    passkeyMode: config.approvals.passkey,
    passkeyPage: (request) =>
      passkeyPage(request, { publicUrl: config.server.public_url, rpId: config.approvals.rp_id }),
    metrics: () => renderMetrics(kernel, { now: app.now(), startedAt, version: VERSION }),
    scrapeToken: config.telemetry.scrape_token,
    now: app.now,
  };
}
