import type { Selectable } from 'kysely';
import { digest } from '../../../lib/canonical.ts';
import type { Database } from '../../store/database.ts';
import type { ApprovalEditsTable, ApprovalsTable } from '../../store/tables.ts';
import type { Entry, EntryApproval } from '../entry.ts';
import { ERASED, statedWords, wordsDigest } from '../rows/approval-words.ts';
import { ApprovalTerms, readSalts } from './approval-terms.ts';
import type { RowFault, StateCheck } from './state-rows.ts';

type Row = Selectable<ApprovalsTable>;

interface Stated {
  readonly seq: number;
  /** The entry that asked; without it only the state can be compared. */
  readonly asked: Entry | undefined;
  readonly permit: boolean;
  digest: string;
  /** More than one where the log leaves it open. */
  states: readonly string[];
  decision: { readonly by: string; readonly at: string } | undefined;
  /** Undefined where the log leaves it open. */
  call: string | null | undefined;
  readonly edits: Entry[];
  /** Of title and content as they were stored with the last entry that says so. */
  words: string | undefined;
  readonly terms: ApprovalTerms;
}

const PAGE = 500;
/** Presentations may contain large diffs. */
const PREVIEWS = 50;

/** The rows of `approvals` and their edits against what the log says happened to each. Grows with decisions only. */
export class ApprovalRowCheck implements StateCheck {
  readonly #stated = new Map<string, Stated>();
  /** Calls that began under an approval of their own. */
  readonly #users = new Map<string, string>();
  readonly #effects = new Map<string, Set<string>>();
  #erased = 0;

  take(seq: number, entry: Entry): void {
    const { kind, approval, tool, effect, extra } = entry;
    if (tool !== undefined && effect !== undefined) this.#learnEffect(tool, effect);
    if (kind === 'erasure' && typeof extra?.approvals === 'number') this.#erased += extra.approvals;
    else if (kind === 'approval' && approval) this.#moved(seq, entry, approval);
    else if (kind === 'edit' && approval) this.#edited(entry, approval);
    else if (kind === 'intent' && approval) this.#begun(entry, approval);
    else if (kind === 'outcome' || kind === 'settled') this.#ended(entry);
    else if (kind === 'read' && approval) this.#read(entry, approval);
  }

  async compare(database: Database): Promise<RowFault[]> {
    const faults: RowFault[] = [];
    const missing = new Map(this.#stated);
    let erased = 0;
    for (let last = -(2 ** 31); ; ) {
      const rows = await readRows(database, last);
      const edits = await readEdits(database, rows);
      const forged = await this.#forgedWords(database, rows);
      const salts = await this.#salts(database, rows);
      for (const row of rows) {
        missing.delete(row.uuid);
        if (row.summary === ERASED) erased += 1;
        const { seq } = this.#stated.get(row.uuid) ?? {};
        for (const what of this.#faultsOf(row, edits, forged, salts))
          faults.push({ seq, message: `Approval ${row.id} (${row.uuid}) ${what}.` });
      }
      const end = rows.at(-1);
      if (!end || rows.length < PAGE) break;
      last = end.id;
    }
    for (const [uuid, { seq }] of missing)
      faults.push({ seq, message: `Approval ${uuid} is in the log, but its row is missing.` });
    if (erased > this.#erased) {
      const message = `${erased} approvals say they were erased, but the log says ${this.#erased} were.`;
      faults.push({ seq: undefined, message });
    }
    return faults;
  }

  /** Where each of these rows differs, one sentence part each. Takes in no more than the entries about them. */
  async compareSome(
    database: Database,
    rows: readonly Row[],
  ): Promise<ReadonlyMap<number, readonly string[]>> {
    const edits = await readEdits(database, rows);
    const forged = await this.#forgedWords(database, rows);
    const salts = await this.#salts(database, rows);
    return new Map(rows.map((row) => [row.id, this.#faultsOf(row, edits, forged, salts)]));
  }

  #faultsOf(
    row: Row,
    edits: ReadonlyMap<number, ApprovalEditsTable[]>,
    forged: ReadonlySet<number>,
    salts: ReadonlyMap<string, string>,
  ): readonly string[] {
    const stated = this.#stated.get(row.uuid);
    if (!stated) return ['has a row, but no entry in the log'];
    return [
      ...this.#differences(row, stated),
      ...editErrors(row, edits.get(row.id) ?? [], stated.edits),
      ...(forged.has(row.id) ? ['has a title or content that differs from what the log says was shown'] : []),
      ...stated.terms.differences(row, salts),
    ];
  }

  #moved(seq: number, entry: Entry, approval: EntryApproval): void {
    const { uuid } = approval;
    const status = entry.status ?? '';
    let one = this.#stated.get(uuid);
    if (!one) {
      one = {
        seq,
        asked: status === 'pending' ? entry : undefined,
        permit: approval.permit === true || entry.rule === 'permit',
        digest: approval.digest,
        states: [],
        decision: undefined,
        call: null,
        edits: [],
        words: undefined,
        terms: new ApprovalTerms(),
      };
      this.#stated.set(uuid, one);
    }
    const shown = statedWords(entry);
    if (shown) one.words = shown.digest;
    one.terms.moved(entry);
    if (status === 'returned') {
      one.states = [one.permit ? 'approved' : 'pending'];
      if (!one.permit) one.decision = undefined;
      one.call = null;
      return;
    }
    one.states = [status];
    if (status === 'pending') one.decision = undefined;
    // A forged row that was closed as the log has it was not decided again.
    if (entry.code === 'approval_invalid') return;
    if (status === 'approved' || status === 'rejected' || status === 'withdrawn')
      one.decision = { by: entry.principal ?? '', at: entry.at };
  }

  #edited(entry: Entry, { uuid, digest: after }: EntryApproval): void {
    const one = this.#stated.get(uuid);
    if (!one) return;
    one.digest = after;
    one.edits.push(entry);
    one.words = statedWords(entry)?.digest;
  }

  /** What a person approved may be done in steps: the parts do not use the approval again. */
  #begun({ call = '', parent = '' }: Entry, { uuid }: EntryApproval): void {
    const one = this.#stated.get(uuid);
    if (!one || this.#users.get(parent) === uuid) return;
    this.#users.set(call, uuid);
    one.states = ['executing'];
    one.call = call;
  }

  #ended(entry: Entry): void {
    const { call = '', status, extra } = entry;
    const one = this.#stated.get(this.#users.get(call) ?? '');
    if (!one) return;
    const isLate = extra?.late === true;
    // One that was taken for dead has stored nothing, and neither has one that failed after all.
    if (extra?.interrupted !== true && !(isLate && status === 'failed')) one.terms.ended(entry, !isLate);
    const state = status === 'ok' ? 'done' : status === 'indeterminate' ? 'indeterminate' : 'failed';
    if (!isLate) {
      one.states = [state];
      return;
    }
    // Another call may have used it since: then it is that call's, whatever this one says.
    if (state !== 'failed') one.states = [...one.states, state];
    one.call = undefined;
  }

  #read(entry: Entry, { uuid }: EntryApproval): void {
    const { call = '', parent, tool, status } = entry;
    const one = this.#stated.get(uuid);
    if (!one || (parent !== undefined && one.asked?.tool !== tool)) return;
    one.terms.ended(entry, status === 'ok');
    one.states = status === 'ok' ? ['done'] : [...one.states, 'failed'];
    one.call = status === 'ok' ? call : undefined;
  }

  #salts(database: Database, rows: readonly Row[]): Promise<ReadonlyMap<string, string>> {
    return readSalts(
      database,
      rows.flatMap(({ uuid }) => this.#stated.get(uuid)?.terms.calls ?? []),
    );
  }

  async #forgedWords({ db }: Database, rows: readonly Row[]): Promise<ReadonlySet<number>> {
    const forged = new Set<number>();
    const stated = rows.filter(
      ({ uuid, summary }) => summary !== ERASED && this.#stated.get(uuid)?.words !== undefined,
    );
    for (let start = 0; start < stated.length; start += PREVIEWS) {
      const some = stated.slice(start, start + PREVIEWS);
      const ids = some.map(({ id }) => id);
      const found = await db
        .selectFrom('approval_previews')
        .selectAll()
        .where('approval_id', 'in', ids)
        .execute();
      const bodies = new Map(found.map(({ approval_id, body }) => [approval_id, body]));
      for (const row of some) {
        const digest = wordsDigest({ ...row, body: bodies.get(row.id) ?? null });
        if (digest !== this.#stated.get(row.uuid)?.words) forged.add(row.id);
      }
    }
    return forged;
  }

  #learnEffect(tool: string, effect: string): void {
    const known = this.#effects.get(tool);
    if (known) known.add(effect);
    else this.#effects.set(tool, new Set([effect]));
  }

  *#differences(row: Row, stated: Stated): Generator<string> {
    const differs = (column: string, stored: unknown, wanted: unknown) =>
      `says ${column} is "${String(stored)}", but the log says "${String(wanted)}"`;
    const { asked, decision } = stated;
    // A read takes its approval before its one entry, and one that was lost on the way leaves none.
    const open = row.effect === 'read' && stated.states.includes('approved');
    const states = open ? [...stated.states, 'executing', 'failed'] : stated.states;
    if (!states.includes(row.state)) yield differs('state', row.state, states.join(' or '));
    if (row.digest !== stated.digest) yield differs('digest', row.digest, stated.digest);
    else if (row.summary !== ERASED && digestOf(row) !== row.digest)
      yield 'has arguments that do not match its digest';
    const kind = stated.permit ? 'permit' : 'call';
    if (row.kind !== kind) yield differs('kind', row.kind, kind);
    if (!stated.permit && row.binding !== null) yield differs('binding', row.binding, null);
    const effects = this.#effects.get(row.tool);
    if (effects && !effects.has(row.effect)) yield differs('effect', row.effect, [...effects].join(' or '));
    if (asked) {
      const columns = {
        tool: asked.tool,
        toolkit: asked.toolkit,
        requester: asked.principal,
        rule: asked.rule,
        run_id: asked.run ?? null,
        created_at: asked.at,
      };
      for (const [column, wanted] of Object.entries(columns)) {
        const stored = row[column as keyof typeof columns];
        if (stored !== wanted) yield differs(column, stored, wanted);
      }
    }
    if (row.decided_by !== (decision?.by ?? null))
      yield differs('decided_by', row.decided_by, decision?.by ?? null);
    if (!isNear(row.decided_at, decision?.at ?? null))
      yield differs('decided_at', row.decided_at, decision?.at ?? null);
    const busy = open && row.state !== 'approved';
    if (stated.call !== undefined && !busy && row.call_id !== stated.call)
      yield differs('call_id', row.call_id, stated.call);
  }
}

/** Row and entry are dated one after the other. A missing time is near no other. */
const NEAR_MS = 10_000;
const isNear = (stored: string | null, wanted: string | null): boolean =>
  stored === wanted || Math.abs(Date.parse(stored ?? '') - Date.parse(wanted ?? '')) <= NEAR_MS;

function digestOf({ kind, tool, args, binding }: Row): string | undefined {
  try {
    const given: unknown = JSON.parse(args);
    if (kind !== 'permit') return digest(tool, given);
    return digest(tool, { args: given, binding: binding === null ? {} : JSON.parse(binding) });
  } catch {
    return undefined;
  }
}

function* editErrors(
  row: Row,
  stored: readonly ApprovalEditsTable[],
  stated: readonly Entry[],
): Generator<string> {
  if (stored.length !== stated.length)
    yield `has ${stored.length} stored ${stored.length === 1 ? 'edit' : 'edits'}, but the log has ${stated.length}`;
  for (const [index, { editor, edited_at, old_digest, new_digest, new_args }] of stored.entries()) {
    const entry = stated[index];
    if (!entry) continue;
    const agrees =
      editor === entry.principal &&
      isNear(edited_at, entry.at) &&
      old_digest === entry.extra?.before &&
      new_digest === entry.approval?.digest;
    if (!agrees) yield `has an edit by ${editor} that is not the one in the log`;
    else if (row.summary !== ERASED && digestOf({ ...row, args: new_args }) !== new_digest)
      yield `has an edit by ${editor} with arguments that do not match its digest`;
  }
}

const readRows = ({ db }: Database, last: number): Promise<Row[]> =>
  db.selectFrom('approvals').selectAll().where('id', '>', last).orderBy('id').limit(PAGE).execute();

async function readEdits({ db }: Database, rows: readonly Row[]): Promise<Map<number, ApprovalEditsTable[]>> {
  const ids = rows.map(({ id }) => id);
  const found = new Map<number, ApprovalEditsTable[]>();
  if (ids.length === 0) return found;
  const edits = await db
    .selectFrom('approval_edits')
    .selectAll()
    .where('approval_id', 'in', ids)
    .orderBy('edited_at')
    .execute();
  for (const edit of edits) found.set(edit.approval_id, [...(found.get(edit.approval_id) ?? []), edit]);
  return found;
}
