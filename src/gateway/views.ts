import { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import { serverViews } from '../contract/server-views.ts';
import type { ServerChanges, ServerSettings } from '../contract/servers.ts';
import { serve } from '../contract/view.ts';
import { lookup } from '../lib/lookup.ts';
import { shellWord } from '../lib/text.ts';
import { claimedEffect } from './effects.ts';
import { describeIgnored } from './listing.ts';
import { reviewOf, type ToolReview } from './review.ts';
import { readHealth, readServerLog } from './server-log.ts';
import { type GatewayDb, listServerNames, readFacts, readSeen } from './store.ts';

/** What the views need of the gateway. */
export interface ViewServices {
  readonly db: GatewayDb;
  readonly dataDir: string;
  readonly servers: Readonly<Record<string, ServerSettings>>;
  targetOf(server: string): Promise<string | undefined>;
}

export interface Reviewed {
  readonly tools: readonly ToolReview[];
  readonly listedAt: string | undefined;
  /** What a person should know of the listing itself. */
  readonly notes: readonly string[];
}

/** What is trusted of a server, next to its newest listing. */
export async function reviewServer(
  { db, targetOf }: Pick<ViewServices, 'db' | 'targetOf'>,
  name: string,
): Promise<Reviewed> {
  const target = await targetOf(name);
  const facts = await readFacts(db, name);
  const listedAt = facts?.target === target ? facts?.listedAt : undefined;
  const seen = target === undefined ? [] : await readSeen(db, name, target);
  const ignored = listedAt === undefined ? 0 : Number(facts?.offers.ignored ?? 0);
  const notes = ignored > 0 ? [describeIgnored(name, ignored)] : [];
  return { tools: reviewOf(name, seen, listedAt), listedAt, notes };
}

export const listNames = async ({ db, servers }: Pick<ViewServices, 'db' | 'servers'>): Promise<string[]> =>
  [...new Set([...Object.keys(servers), ...(await listServerNames(db))])].sort();

/** What runs and what asks, and how a person changes that: one line for the page and the command line. */
export function describeChanges(name: string, changes: ServerChanges | undefined, isWrapped = false): string {
  const table = `under [servers.${name}] in the configuration`;
  if (changes === 'allow')
    return `Reads and changes of ${name} run, destructive calls require approval (changes = "allow" ${table}).`;
  const setting = isWrapped ? '' : `set changes = "allow" ${table}, or `;
  const origin = changes === undefined ? ' by default' : '';
  return `Reads of ${name} run, changes and destructive calls require approval${origin}. To let changes run, ${setting}allow single tools with a rule.`;
}

/** One server in a line, for the page and the command line. */
export function summarizeServer(
  { dataDir, servers }: Pick<ViewServices, 'dataDir' | 'servers'>,
  name: string,
  { tools }: Reviewed,
) {
  const settings = lookup(servers, name);
  const count = (...states: ToolReview['state'][]): number =>
    tools.filter(({ state }) => states.includes(state)).length;
  const [health] = readHealth(dataDir, name);
  const state =
    settings?.enabled === false
      ? ('disabled' as const)
      : !tools.some(({ decidedBy }) => decidedBy !== undefined)
        ? ('quarantined' as const)
        : count('changed') > 0
          ? ('changed' as const)
          : ('trusted' as const);
  const command = settings?.command === undefined ? [] : [settings.command, ...settings.args];
  return {
    name,
    state,
    trusted: count('trusted'),
    waiting: count('new', 'changed'),
    health: health?.state ?? 'stopped',
    error: health?.error ?? null,
    changes: settings?.changes ?? ('ask' as const),
    changes_note: describeChanges(name, settings?.changes, settings === undefined),
    target: settings === undefined ? '(wrapped)' : (settings.url ?? command.map(shellWord).join(' ')),
  };
}

/** Starts nothing: everything comes from the pins and from what running servers left. */
export const gatewayViews = serve<ViewServices, typeof serverViews>(serverViews, {
  async servers(_params, { services }) {
    const names = await listNames(services);
    const servers = await Promise.all(
      names.map(async (name) => summarizeServer(services, name, await reviewServer(services, name))),
    );
    return { servers };
  },
  async server({ name, lines }, { services }) {
    if (!(await listNames(services)).includes(name))
      throw new ToolError('not_found', `No server named ${name} is configured.`);
    const reviewed = await reviewServer(services, name);
    return {
      server: summarizeServer(services, name, reviewed),
      listed_at: reviewed.listedAt ?? null,
      notes: [...reviewed.notes],
      tools: reviewed.tools.map((one) => ({
        tool: one.tool,
        name: one.name,
        state: one.state,
        effect: one.effect as 'read' | 'change' | 'destroy',
        claimed: claimedEffect(one.definition),
        hash: one.hash,
        description: typeof one.definition.description === 'string' ? one.definition.description : '',
        input_schema: one.definition.inputSchema as JsonObject,
        warnings: [...one.warnings],
        changes: one.changes.map(({ field, before, after }) => ({
          field,
          before: before ?? null,
          after: after ?? null,
        })),
        decided_by: one.decidedBy ?? null,
        decided_at: one.decidedAt ?? null,
      })),
      log: readServerLog(services.dataDir, name, lines),
    };
  },
});
