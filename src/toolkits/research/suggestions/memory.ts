import type { JsonObject } from '../../../contract/json.ts';
import { type Approval, type ApprovalsPort, isDamaged, isReadable } from '../../../contract/ports.ts';
import { lookup } from '../../../lib/lookup.ts';
import type { Place } from '../suggest/content.ts';
import { argNumber } from './decide.ts';

const PAGE = 500;
/** Other processes decide with their own clocks, and commit a moment after they read them. */
const OVERLAP_MS = 60_000;

/** What makes two suggestions the same, regardless of their wording: the change they ask for. */
function suggestionKey(project: string, tool: string, args: JsonObject): string {
  const pick = (...names: string[]) =>
    JSON.stringify([project, tool, ...names.map((name) => lookup(args, name) ?? null)]);
  switch (tool) {
    case 'create_category':
      return JSON.stringify([project, tool, [...(Array.isArray(args.code_ids) ? args.code_ids : [])].sort()]);
    case 'create_code':
      return JSON.stringify([project, tool, String(args.name).trim().toLowerCase()]);
    case 'merge_codes':
      return pick('source_code_id', 'target_code_id');
    case 'apply_code':
      return pick('code_id', 'source_id', 'start_pos', 'end_pos');
    case 'update_source_metadata':
      return JSON.stringify([project, tool, args.source_id ?? null, Object.keys(args).sort()]);
    default:
      return JSON.stringify([project, tool, args]);
  }
}

interface RejectedPlace extends Place {
  readonly project: string;
}

/**
 * Which suggestions were filed and rejected, by what they ask for. It reads the queue once and then only what was added or
 * decided since, because a call that suggests five codes must not read thousands of rows. Rows it names are read again
 * before they are used.
 */
export class SuggestionMemory {
  readonly #approvals: ApprovalsPort;
  readonly #filed = new Map<string, number>();
  readonly #rejected = new Map<string, number>();
  readonly #rejectedPlaces = new Map<number, RejectedPlace>();
  #lastId = 0;
  #decidedUntil = 0;
  #refreshing: Promise<void> = Promise.resolve();

  constructor(approvals: ApprovalsPort) {
    this.#approvals = approvals;
  }

  /** Reads what other processes and people did since the last time. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.catch(() => {}).then(() => this.#read());
    return this.#refreshing;
  }

  /** The same suggestion as it is pending now. */
  async pending(project: string, tool: string, args: JsonObject): Promise<Approval | undefined> {
    const key = suggestionKey(project, tool, args);
    const found = await this.#find(this.#filed.get(key), project, key);
    return found?.state === 'pending' ? found : undefined;
  }

  async rejected(project: string, tool: string, args: JsonObject): Promise<Approval | undefined> {
    const key = suggestionKey(project, tool, args);
    return this.#find(this.#rejected.get(key), project, key);
  }

  /** Where the researcher turned a code down: the suggestion model learns from it. */
  rejectedPlaces(project: string): Place[] {
    return [...this.#rejectedPlaces.values()].filter((place) => place.project === project);
  }

  add(approval: Approval): void {
    const { context, tool, args, id, state } = approval;
    if (typeof context.project !== 'string') return;
    const key = suggestionKey(context.project, tool, args);
    if (id >= (this.#filed.get(key) ?? 0)) this.#filed.set(key, id);
    if (state !== 'rejected') return;
    if (id >= (this.#rejected.get(key) ?? 0)) this.#rejected.set(key, id);
    if (tool !== 'apply_code') return;
    this.#rejectedPlaces.set(id, {
      project: context.project,
      codeId: argNumber(args, 'code_id'),
      sourceId: argNumber(args, 'source_id'),
      start: argNumber(args, 'start_pos'),
      end: argNumber(args, 'end_pos'),
    });
  }

  /** A researcher may have edited the row into another suggestion. */
  async #find(id: number | undefined, project: string, key: string): Promise<Approval | undefined> {
    const found = id === undefined ? undefined : await this.#approvals.get(id);
    return found && suggestionKey(project, found.tool, found.args) === key ? found : undefined;
  }

  async #read(): Promise<void> {
    const filter = { toolkit: 'research', order: 'oldest', limit: PAGE } as const;
    const decidedSince = new Date(Math.max(0, this.#decidedUntil - OVERLAP_MS));
    for (;;) {
      const page = await this.#approvals.page({
        ...filter,
        states: ['pending', 'approved', 'executing', 'rejected'],
        afterId: this.#lastId,
      });
      for (const item of page) {
        this.#lastId = Math.max(this.#lastId, item.id);
        if (isDamaged(item)) continue;
        this.add(item);
        this.#decidedUntil = Math.max(this.#decidedUntil, item.decidedAt?.getTime() ?? 0);
      }
      if (page.length < PAGE) break;
    }
    for (let offset = 0; ; offset += PAGE) {
      const page = await this.#approvals.page({ ...filter, states: ['rejected'], decidedSince, offset });
      for (const item of page.filter(isReadable)) {
        this.add(item);
        this.#decidedUntil = Math.max(this.#decidedUntil, item.decidedAt?.getTime() ?? 0);
      }
      if (page.length < PAGE) return;
    }
  }
}
