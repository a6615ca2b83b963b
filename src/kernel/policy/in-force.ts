import { type McpPolicyConfig, type PolicyOverrides, policyOverrides } from '../../contract/policy.ts';
import type { Principal } from '../../contract/principal.ts';
import { changeConfig } from '../log/config-change.ts';
import type { Database } from '../store/database.ts';
import { OVERRIDES_KEY, stampOf } from '../store/pause.ts';
import { compilePolicy, type Policy, type PolicyInput, unreadablePolicy } from './index.ts';
import { NOT_LOGGED, readStored, withoutChanges } from './stored.ts';

export interface PolicyBase {
  readonly mode: 'autopilot' | 'composer';
  readonly approvalMode: boolean;
  readonly policy: McpPolicyConfig;
  readonly toolkits: PolicyInput['toolkits'];
  /** Conditions are checked against the tools' schemas; loading those is left out where no rule has one. */
  catalogue(needsSchemas: boolean): Promise<PolicyInput['catalogue']>;
  /** Toolkits whose tools are not known yet. */
  expected?(): readonly string[];
  /** Grows when the catalogue changes: rules are then checked against the new one. */
  catalogueVersion?(): number;
}

/** The policy of the configuration file together with what people changed since. */
export class PolicyInForce {
  readonly #base: PolicyBase;
  readonly #database: Database;
  readonly #now: () => Date;
  #policy: Policy = unreadablePolicy('the policy has not been read yet');
  #mode: 'autopilot' | 'composer';
  #stamp = 'unread';
  #catalogueVersion = 0;
  #problem: string | undefined;

  constructor(base: PolicyBase, database: Database, now: () => Date = () => new Date()) {
    this.#base = base;
    this.#database = database;
    this.#now = now;
    this.#mode = base.mode;
  }

  get current(): Policy {
    return this.#policy;
  }

  /** Names the overrides this policy was made with; a change admitted under another is evaluated again. */
  get stamp(): string {
    return this.#stamp;
  }

  /** True where tools came or went since it was compiled. */
  get isBehind(): boolean {
    return this.#catalogueVersion !== (this.#base.catalogueVersion?.() ?? 0);
  }

  /** Why the stored rules are not in force; undefined when they are. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get modes(): { mode: 'autopilot' | 'composer'; approvalMode: boolean } {
    return { mode: this.#mode, approvalMode: this.#base.approvalMode || this.#mode === 'composer' };
  }

  /** Reads what is stored and puts it in force. A policy that cannot be read denies every change. */
  async refresh(): Promise<void> {
    const version = this.#base.catalogueVersion?.() ?? 0;
    const isSame = this.#stamp === stampOf(await this.#read()) && version === this.#catalogueVersion;
    // The log is asked only about a row that is another than before, or was not believed.
    if (isSame && this.#problem === undefined) return;
    const { value, isLogged } = await readStored(this.#database);
    const stamp = stampOf(value);
    const overrides = parseOverrides(value);
    this.#problem = isLogged ? undefined : NOT_LOGGED;
    if (!overrides) {
      this.#policy = unreadablePolicy('the rules in the database are unreadable');
      this.#stamp = stamp;
      return;
    }
    try {
      const input = await this.#input(isLogged ? overrides : { rules: [] });
      const policy = await compilePolicy(input);
      this.#policy = isLogged ? policy : withoutChanges(policy);
      this.#mode = input.mode;
      this.#stamp = stamp;
      this.#catalogueVersion = version;
    } catch (error) {
      // The earlier policy is no longer what people want, and this one cannot be had: nothing is allowed until it can be read.
      this.#policy = unreadablePolicy('the rules in the database are invalid for this server');
      this.#stamp = 'unread';
      throw error;
    }
  }

  /** What people set. Of a row that the log does not know, nothing: a person would confirm it with the next edit. */
  async overrides(): Promise<PolicyOverrides> {
    const { value, isLogged } = await readStored(this.#database);
    return (isLogged ? parseOverrides(value) : undefined) ?? { rules: [] };
  }

  /** What is in force as data, to compile variants of it. */
  async input(): Promise<PolicyInput> {
    return this.#input(await this.overrides());
  }

  /** Refuses what does not compile; what does is in force for every process from this commit on. */
  async setOverrides(overrides: PolicyOverrides, by: Principal): Promise<void> {
    const { version } = await compilePolicy(await this.#input(overrides));
    const value = JSON.stringify(overrides);
    const { mode, template, rules } = overrides;
    await changeConfig(this.#database, by, this.#now(), async (trx) => {
      await trx
        .insertInto('settings')
        .values({ key: OVERRIDES_KEY, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute();
      return {
        mode: mode ?? null,
        template: template ?? null,
        rules: rules.map(({ id }) => id),
        policy_version: version,
        // Binds the stored text to the log.
        overrides: stampOf(value),
      };
    });
    await this.refresh();
  }

  async #input({ mode = this.#base.mode, template, rules }: PolicyOverrides): Promise<PolicyInput> {
    const { policy, approvalMode, toolkits } = this.#base;
    const own = policy.rules.filter(({ id }) => !rules.some((rule) => rule.id === id));
    const merged = { ...policy, ...(template ? { template } : {}), rules: [...own, ...rules] };
    const catalogue = await this.#base.catalogue(merged.rules.some(({ when }) => when !== undefined));
    return {
      mode,
      approvalMode: approvalMode || mode === 'composer',
      policy: merged,
      catalogue,
      expected: this.#base.expected?.() ?? [],
      toolkits,
    };
  }

  async #read(): Promise<string | undefined> {
    const row = await this.#database.db
      .selectFrom('settings')
      .select('value')
      .where('key', '=', OVERRIDES_KEY)
      .executeTakeFirst();
    return row?.value;
  }
}

function parseOverrides(stored: string | undefined): PolicyOverrides | undefined {
  if (stored === undefined) return { rules: [] };
  try {
    return policyOverrides.parse(JSON.parse(stored));
  } catch {
    return undefined;
  }
}
