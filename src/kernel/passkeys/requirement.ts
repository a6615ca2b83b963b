import type { JsonObject } from '../../contract/json.ts';
import type { PasskeyMode } from '../../contract/passkeys.ts';
import type { Principal } from '../../contract/principal.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { readKeysInForce } from '../log/passkeys/read.ts';
import { signersOf } from '../log/passkeys/statement.ts';
import type { PolicySource } from '../ports.ts';
import type { Database } from '../store/database.ts';

export interface RequirementPorts {
  readonly database: Database;
  readonly policy: PolicySource;
  /** The mode of the configuration file; the stricter of it and the signed one in the log applies. */
  readonly mode: PasskeyMode;
  now(): Date;
}

export interface AskedFor {
  readonly bound: BoundTool;
  readonly args: JsonObject;
  readonly requester: Principal;
}

/** How many people must sign before this call may run. */
export type SignersFor = (asked: AskedFor) => Promise<number>;

export const createRequirement =
  ({ database, policy, mode, now }: RequirementPorts): SignersFor =>
  async ({ bound: { tool, toolkit }, args, requester }) => {
    const { name, category, effect } = tool;
    const subject = { name, toolkit: toolkit.id, category, effect };
    const call = { subject, args, principal: requester, now: now(), dryRunRequested: false };
    const { signers = 0 } = policy.current.decide(call);
    const { keys } = await readKeysInForce(database);
    return Math.max(signers, signersOf(mode, effect), signersOf(keys.mode, effect));
  };
