import type { ApprovalsPort } from '../contract/ports.ts';
import { compare, type Definition, describeChange, pinOf, proposedEffect, warningsOf } from './definition.ts';
import type { Pin, Seen } from './store.ts';
import { GATEWAY_PRINCIPAL, TRUST_TOOL, trustArgs } from './trust.ts';

/** More would go unread; the rest is in `countersign servers show`. */
const MAX_RISKS = 40;

/**
 * Puts what a server changed or added since it was trusted into the inbox, once. Approving an item trusts exactly the
 * definition it shows; until then the tool is refused and its neighbours go on.
 */
export async function proposeChanges(
  server: string,
  definitions: readonly Definition[],
  known: readonly Seen[],
  approvals: ApprovalsPort,
): Promise<void> {
  const trusted = new Map(known.filter(({ state }) => state === 'trusted').map((one) => [one.tool, one]));
  const added: Definition[] = [];
  for (const definition of definitions) {
    const pin = trusted.get(definition.name);
    if (!pin) added.push(definition);
    else if (pin.hash !== pinOf(definition)) await proposeChange(server, pin, definition, approvals);
  }
  if (added.length > 0) await proposeNew(server, added, trusted.size === 0, approvals);
}

async function proposeChange(
  server: string,
  pin: Seen,
  now: Definition,
  approvals: ApprovalsPort,
): Promise<void> {
  const changes = compare(pin.definition, now);
  await propose(approvals, server, [{ tool: now.name, hash: pinOf(now), effect: pin.effect }], {
    reason: `The server ${server} changed the definition of ${now.name} after it was trusted.`,
    summary: `Trust the changed definition of ${now.name} of the server ${server}`,
    risks: [...changes.map(describeChange), ...warningsOf(now)],
    context: {
      server,
      tool: now.name,
      changes: changes.map((one) => ({ ...one, before: one.before ?? null, after: one.after ?? null })),
    },
  });
}

async function proposeNew(
  server: string,
  added: readonly Definition[],
  isNewServer: boolean,
  approvals: ApprovalsPort,
): Promise<void> {
  const pins = added.map((one) => ({ tool: one.name, hash: pinOf(one), effect: proposedEffect(one) }));
  const names = added.map(({ name }) => name).join(', ');
  await propose(approvals, server, pins, {
    reason: isNewServer
      ? `The server ${server} is in quarantine until its tools are trusted.`
      : `The server ${server} added tools after it was trusted.`,
    summary: `Trust ${names} of the server ${server}`,
    risks: added.flatMap((one) => warningsOf(one).map((warning) => `${one.name}: ${warning}`)),
    context: { server, added: [...added] },
  });
}

async function propose(
  approvals: ApprovalsPort,
  server: string,
  pins: readonly Pin[],
  words: {
    reason: string;
    summary: string;
    risks: string[];
    context: Parameters<ApprovalsPort['propose']>[0]['context'];
  },
): Promise<void> {
  const args = trustArgs(server, pins);
  const known = await approvals.list({ tools: [TRUST_TOOL], states: ['pending', 'rejected'], limit: 500 });
  const asked = JSON.stringify(args);
  // A person who rejected it need not do so again at every start; `countersign servers trust` still can.
  if (known.some((one) => JSON.stringify(one.args) === asked)) return;
  const names = new Set(pins.map(({ tool }) => tool));
  // What the server listed before is no longer what it offers.
  for (const { id, state, args: earlier } of known) {
    if (state !== 'pending' || earlier.server !== server) continue;
    const tools = earlier.tools as { name: string }[];
    if (tools.every(({ name }) => names.has(name))) await approvals.withdraw(id, GATEWAY_PRINCIPAL);
  }
  await approvals.propose({
    tool: TRUST_TOOL,
    args,
    requester: GATEWAY_PRINCIPAL,
    reason: words.reason,
    summary: words.summary.slice(0, 500),
    risks: words.risks.slice(0, MAX_RISKS),
    context: words.context,
    // A change stays refused until a person looks, however long that takes.
    expiresAt: null,
  });
}
