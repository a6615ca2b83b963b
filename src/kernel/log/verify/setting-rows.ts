import { hash } from 'node:crypto';
import type { JsonObject } from '../../../contract/json.ts';
import type { Database } from '../../store/database.ts';
import type { Entry } from '../entry.ts';
import { parseNoteKey } from '../signing/note.ts';
import type { RowFault, StateCheck } from './state-rows.ts';

/** Settings that are policy or evidence; the others belong to a running server. */
const PAUSED = 'paused';
const AGENT_PAUSED = 'paused:agent:';
const OVERRIDES = 'policy_overrides';
const ORIGIN = 'audit.origin';
const KEY = 'audit.key.';

interface LoggedSetting {
  readonly seq: number;
  readonly entry: Entry;
}

/** Settings and agents against the entries about their changes. */
export class SettingCheck implements StateCheck {
  #paused: LoggedSetting | undefined;
  #overrides: LoggedSetting | undefined;
  /** Agent → the entry that paused or resumed it last. */
  readonly #pausedAgents = new Map<string, LoggedSetting>();
  /** Public key → `active` or `retired`, and the entry that says so. */
  readonly #keys = new Map<string, { readonly seq: number; state: string }>();
  readonly #agents = new Map<
    string,
    { added: LoggedSetting | undefined; revoked: LoggedSetting | undefined }
  >();

  take(seq: number, entry: Entry): void {
    const { kind, extra = {} } = entry;
    if (kind === 'checkpoint-key') this.#announced(seq, extra);
    if (kind !== 'config') return;
    const logged = { seq, entry };
    if (typeof extra.paused === 'boolean') this.#paused = logged;
    const agent = extra.agent_paused ?? extra.agent_resumed;
    if (typeof agent === 'string') this.#pausedAgents.set(agent, logged);
    if ('policy_version' in extra) this.#overrides = logged;
    if (typeof extra.agent_added === 'string')
      this.#agents.set(extra.agent_added, { added: logged, revoked: undefined });
    if (typeof extra.agent_revoked === 'string') {
      const known = this.#agents.get(extra.agent_revoked);
      this.#agents.set(extra.agent_revoked, { added: known?.added, revoked: logged });
    }
  }

  async compare({ db }: Database): Promise<RowFault[]> {
    const settings = await db.selectFrom('settings').selectAll().execute();
    const agents = await db.selectFrom('agents').selectAll().execute();
    const values = new Map(settings.map(({ key, value }) => [key, value]));
    return [
      ...this.#pauseErrors(values.get(PAUSED)),
      ...this.#agentPauseErrors(values),
      ...this.#overrideErrors(values.get(OVERRIDES)),
      ...this.#keyErrors(values),
      ...this.#agentErrors(agents),
    ];
  }

  #announced(seq: number, { key, retires }: JsonObject): void {
    if (typeof retires === 'string') this.#keys.set(retires, { seq, state: 'retired' });
    if (typeof key === 'string') this.#keys.set(key, { seq, state: 'active' });
  }

  *#pauseErrors(stored: string | undefined): Generator<RowFault> {
    const by = this.#paused?.entry.extra?.paused === true ? this.#paused.entry.principal : undefined;
    if (stored === by) return;
    const message = `The setting ${PAUSED} is ${show(stored)}, but the log says ${show(by)}.`;
    yield { seq: this.#paused?.seq, message };
  }

  *#agentPauseErrors(values: ReadonlyMap<string, string>): Generator<RowFault> {
    const stored = [...values.keys()].filter((key) => key.startsWith(AGENT_PAUSED));
    const names = new Set([
      ...this.#pausedAgents.keys(),
      ...stored.map((key) => key.slice(AGENT_PAUSED.length)),
    ]);
    for (const name of names) {
      const logged = this.#pausedAgents.get(name);
      const by = logged?.entry.extra?.agent_paused === name ? logged.entry.principal : undefined;
      const value = values.get(AGENT_PAUSED + name);
      if (value === by) continue;
      yield {
        seq: logged?.seq,
        message: `The setting ${AGENT_PAUSED}${name} is ${show(value)}, but the log says ${show(by)}.`,
      };
    }
  }

  *#overrideErrors(stored: string | undefined): Generator<RowFault> {
    const logged = this.#overrides;
    const wanted = logged?.entry.extra?.overrides;
    if (logged && typeof wanted !== 'string') return;
    const found = stored === undefined ? undefined : hash('sha256', stored);
    if (found !== wanted)
      yield { seq: logged?.seq, message: `The setting ${OVERRIDES} is not what the log says was set.` };
  }

  *#keyErrors(values: ReadonlyMap<string, string>): Generator<RowFault> {
    const stored = new Map(
      [...values].filter(([key]) => key.startsWith(KEY)).map(([key, value]) => [key, value]),
    );
    for (const [text, { seq, state }] of this.#keys) {
      const name = nameOf(text);
      const value = stored.get(name);
      stored.delete(name);
      if (value !== `${state} ${text}`)
        yield { seq, message: `The setting ${name} is ${show(value)}, but the log says "${state} ${text}".` };
    }
    for (const key of stored.keys())
      yield { seq: undefined, message: `The setting ${key} is a signing key that the log does not name.` };
    const [first] = this.#keys.keys();
    const origin = first?.split('+')[0];
    if (origin !== undefined && values.get(ORIGIN) !== origin)
      yield {
        seq: undefined,
        message: `The setting ${ORIGIN} is ${show(values.get(ORIGIN))}, but the log is named "${origin}".`,
      };
  }

  *#agentErrors(
    rows: readonly { name: string; token_hash: string; created_at: string; revoked_at: string | null }[],
  ): Generator<RowFault> {
    const missing = new Map(this.#agents);
    for (const { name, token_hash, created_at, revoked_at } of rows) {
      const known = missing.get(name);
      missing.delete(name);
      const added = known?.added?.entry;
      const seq = known?.added?.seq;
      if (!added) {
        yield { seq, message: `Agent ${name} has a row, but the log does not say that it was added.` };
        continue;
      }
      const revoked = known?.revoked?.entry.at ?? null;
      const token = added.extra?.token_hash;
      if (created_at !== added.at || revoked_at !== revoked)
        yield {
          seq,
          message: `Agent ${name} was added or revoked at a different time from the one in the log.`,
        };
      if (typeof token === 'string' && token !== token_hash)
        yield { seq, message: `Agent ${name} has a different token from the one it was added with.` };
    }
    for (const [name, { added }] of missing)
      yield { seq: added?.seq, message: `Agent ${name} is in the log, but its row is missing.` };
  }
}

function nameOf(text: string): string {
  try {
    return KEY + parseNoteKey(text).id;
  } catch {
    return KEY;
  }
}

const show = (value: string | undefined): string => (value === undefined ? 'not set' : `"${value}"`);
