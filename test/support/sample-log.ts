import type { JsonValue } from '../../src/contract/json.ts';
import {
  ArtifactStore,
  appendEntries,
  type EntryInput,
  payloadRow,
  prepareEntry,
  Signer,
  sealPayload,
  writeCheckpoint,
} from '../../src/kernel/log/index.ts';
import type { Database } from '../../src/kernel/store/database.ts';
import { digest } from '../../src/lib/canonical.ts';

type Fields = Omit<EntryInput, 'kind' | 'at'> & { readonly kind: EntryInput['kind'] };

/** Writes entries as the kernel does: entry and payloads in one transaction, one second apart. */
export class LogScribe {
  readonly database: Database;
  readonly signer: Signer;
  readonly artifacts: ArtifactStore;
  #clock = Date.UTC(2026, 0, 1);

  private constructor(database: Database, signer: Signer, artifacts: ArtifactStore) {
    this.database = database;
    this.signer = signer;
    this.artifacts = artifacts;
  }

  static async open(database: Database, dataDir: string): Promise<LogScribe> {
    const signer = await Signer.open(database, dataDir);
    return new LogScribe(database, signer, new ArtifactStore(database, dataDir));
  }

  readonly now = (): Date => {
    this.#clock += 1000;
    return new Date(this.#clock);
  };

  async write(
    fields: Fields,
    payloads: { args?: JsonValue; result?: JsonValue; unkept?: JsonValue } = {},
  ): Promise<string> {
    const { database } = this;
    const args = payloads.args === undefined ? undefined : sealPayload(payloads.args);
    const result =
      payloads.unkept === undefined
        ? payloads.result === undefined
          ? undefined
          : sealPayload(payloads.result)
        : sealPayload(payloads.unkept, { keep: false });
    const entry = prepareEntry({
      ...fields,
      at: this.now().toISOString(),
      args: args?.hash,
      result: result?.hash,
    });
    await database.write(async (trx) => {
      if (args)
        await trx
          .insertInto('audit_payloads')
          .values(payloadRow(entry, 'args', args))
          .execute();
      if (result)
        await trx
          .insertInto('audit_payloads')
          .values(payloadRow(entry, 'result', result))
          .execute();
      for (const one of fields.artifacts ?? []) {
        if (typeof one === 'string' || fields.call === undefined) continue;
        const link = { call_id: fields.call, artifact_id: one.id, name: one.name };
        await trx.insertInto('call_artifacts').values(link).execute();
      }
      await appendEntries(trx, database.engine, [entry]);
    });
    return entry.hash;
  }

  checkpoint = () => writeCheckpoint(this.database, this.signer, this.now);

  read(call: string, run?: string) {
    const fields = { call, run, tool: 'get_post', toolkit: 'x', effect: 'read', principal: 'agent:local' };
    return this.write(
      { ...fields, kind: 'read', status: 'ok' },
      { args: { id: call }, unkept: { text: 'hi' } },
    );
  }

  async change(call: string, more: Partial<EntryInput> = {}) {
    const args = { text: `post of ${call}` };
    const fields = {
      call,
      tool: 'post',
      toolkit: 'x',
      effect: 'change',
      principal: 'agent:local',
      digest: digest('post', args),
      decision: 'allow',
      ...more,
    };
    await this.write({ ...fields, kind: 'intent', artifacts: undefined, extra: undefined }, { args });
    return this.write(
      { ...fields, kind: 'outcome', status: 'ok' },
      { result: { status: 'ok', data: { id: call } } },
    );
  }

  async approve(uuid: string, wanted: string, more: Partial<EntryInput> = {}) {
    const base = { tool: 'post', toolkit: 'x', digest: wanted, ...more };
    await this.write({
      ...base,
      kind: 'approval',
      status: 'pending',
      principal: 'agent:local',
      approval: { uuid, digest: wanted },
    });
    await this.write({
      ...base,
      kind: 'approval',
      status: 'approved',
      principal: 'person:ada',
      approval: { uuid, digest: wanted, requester: 'agent:local', approver: 'person:ada' },
    });
  }
}

/** The digest of what `change(call)` sends, for approvals of it. */
const changeDigest = (call: string): string => digest('post', { text: `post of ${call}` });

/** A log with something of everything in it: every table of the audit has rows. */
export async function writeSampleLog(scribe: LogScribe): Promise<void> {
  const run = 'run-1';
  await scribe.read('call-a', run);
  await scribe.change('call-b');
  await scribe.write({
    kind: 'config',
    principal: 'person:ada',
    extra: { changed: ['mcp_policy.blocked_tools'] },
  });
  await scribe.checkpoint();
  await scribe.write(
    {
      kind: 'refusal',
      call: 'call-c',
      run,
      tool: 'post',
      effect: 'change',
      principal: 'agent:local',
      status: 'refused',
      code: 'policy_denied_blocked',
      decision: 'deny',
    },
    { args: { text: 'no' } },
  );
  const approval = { uuid: 'a-1', digest: changeDigest('call-e'), approver: 'person:ada' };
  await scribe.write(
    {
      kind: 'routed',
      call: 'call-d',
      run,
      tool: 'post',
      effect: 'change',
      principal: 'agent:local',
      status: 'routed',
      decision: 'ask',
      digest: approval.digest,
    },
    { args: { text: 'post of call-e' } },
  );
  await scribe.approve('a-1', approval.digest, { run });
  const patch = await scribe.artifacts.write('fix.patch', 'text/x-diff', 'diff --git a/a b/a\n');
  const log = await scribe.artifacts.write('stdout.log', 'text/plain', 'all tests passed\n');
  await scribe.change('call-e', {
    run,
    decision: 'ask',
    approval,
    artifacts: [patch, log],
    extra: {
      tests: { tree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904', result: 'passed', passed: ['unit'] },
    },
  });
  await scribe.checkpoint();
  await scribe.signer.rotate(scribe.now());
  await scribe.write(
    {
      kind: 'dry_run',
      call: 'call-f',
      tool: 'post',
      effect: 'change',
      principal: 'agent:local',
      status: 'dry_run',
      decision: 'dry_run',
    },
    { args: { text: 'try' } },
  );
  await scribe.read('call-g', run);
  await scribe.change('call-h');
  await scribe.checkpoint();
  await scribe.read('call-i');
}
