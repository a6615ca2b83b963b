import type { ApprovalsPort } from '../contract/ports.ts';
import { compare, type Definition, describeChange, pinOf, warningsOf } from './definition.ts';
import { effectAfter, proposedEffect } from './effects.ts';
import type { Pin, Seen } from './store.ts';
import { GATEWAY_PRINCIPAL, TRUST_TOOL, trustArgs } from './trust.ts';

/** More would go unread; the rest is in `countersign servers show`. */
const MAX_RISKS = 40;

/** A server that a person uses changes its tools a few times a day at most; what it asked before is withdrawn, but stored. */
const BURST = 15;
const EVERY_MS = 3_600_000;

/** How often each server may put something new into the inbox. */
export class ProposalBudget {
  readonly #left = new Map<string, { tokens: number; at: number }>();

  take(server: string, now: Date): boolean {
    const at = now.getTime();
    const { tokens, at: before } = this.#left.get(server) ?? { tokens: BURST, at };
    const filled = Math.min(BURST, tokens + Math.max(0, at - before) / EVERY_MS);
    const isGranted = filled >= 1;
    this.#left.set(server, { tokens: isGranted ? filled - 1 : filled, at });
    return isGranted;
  }
}

export const describeTooOften = (server: string): string =>
  `${server} changes its tools too often; \`countersign servers show ${server}\` shows the newest definitions, which are refused until they are trusted.`;

/**
 * Puts what a server changed or added since it was trusted into the inbox, once. Approving an item trusts exactly the
 * definition it shows; until then the tool is refused and its neighbours go on. False when something was left out.
 */
export async function proposeChanges(
  server: string,
  definitions: readonly Definition[],
  known: readonly Seen[],
  approvals: ApprovalsPort,
  mayPropose: () => boolean,
): Promise<boolean> {
  let isComplete = true;
  const trusted = new Map(known.filter(({ state }) => state === 'trusted').map((one) => [one.tool, one]));
  const added: Definition[] = [];
  for (const definition of definitions) {
    const pin = trusted.get(definition.name);
    if (!pin) added.push(definition);
    else if (pin.hash !== pinOf(definition))
      isComplete =
        (await propose(approvals, server, changed(server, pin, definition), mayPropose)) && isComplete;
  }
  if (added.length > 0)
    isComplete =
      (await propose(approvals, server, fresh(server, added, trusted.size === 0), mayPropose)) && isComplete;
  return isComplete;
}

interface Proposal {
  readonly pins: readonly Pin[];
  readonly reason: string;
  readonly summary: string;
  readonly risks: readonly string[];
  readonly context: Parameters<ApprovalsPort['propose']>[0]['context'];
}

function changed(server: string, pin: Seen, now: Definition): Proposal {
  const changes = compare(pin.definition, now);
  return {
    pins: [{ tool: now.name, hash: pinOf(now), effect: effectAfter(pin.definition, pin.effect, now) }],
    reason: `The server ${server} changed the definition of ${now.name} after it was trusted.`,
    summary: `Trust the changed definition of ${now.name} of the server ${server}`,
    risks: [...changes.map(describeChange), ...warningsOf(now)],
    context: {
      server,
      tool: now.name,
      changes: changes.map((one) => ({ ...one, before: one.before ?? null, after: one.after ?? null })),
    },
  };
}

function fresh(server: string, added: readonly Definition[], isNewServer: boolean): Proposal {
  const names = added.map(({ name }) => name);
  return {
    pins: added.map((one) => ({ tool: one.name, hash: pinOf(one), effect: proposedEffect(one) })),
    reason: isNewServer
      ? `The server ${server} is in quarantine until its tools are trusted.`
      : `The server ${server} added tools after it was trusted.`,
    summary: `Trust ${names.join(', ')} of the server ${server}`,
    risks: added.flatMap((one) => warningsOf(one).map((warning) => `${one.name}: ${warning}`)),
    // The definitions themselves are stored once, with the server, and shown from there.
    context: { server, added: names },
  };
}

/** What is left out is said: a change that no one mentions would go unseen. */
const firstRisks = (server: string, risks: readonly string[]): readonly string[] =>
  risks.length <= MAX_RISKS
    ? risks
    : [
        `${risks.length - MAX_RISKS} more; read them with \`countersign servers show ${server}\``,
        ...risks.slice(0, MAX_RISKS),
      ];

async function propose(
  approvals: ApprovalsPort,
  server: string,
  { pins, ...words }: Proposal,
  mayPropose: () => boolean,
): Promise<boolean> {
  const args = trustArgs(server, pins);
  const known = await approvals.list({ tools: [TRUST_TOOL], states: ['pending', 'rejected'], limit: 500 });
  const asked = JSON.stringify(args);
  // A person who rejected it need not do so again at every start; `countersign servers trust` still can.
  if (known.some((one) => JSON.stringify(one.args) === asked)) return true;
  if (!mayPropose()) return false;
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
    risks: firstRisks(server, words.risks),
    context: words.context,
    // A change stays refused until a person looks, however long that takes.
    expiresAt: null,
  });
  return true;
}
