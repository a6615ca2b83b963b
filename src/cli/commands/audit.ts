import { readFileSync, writeFileSync } from 'node:fs';
import { principalName } from '../../contract/principal.ts';
import { checkpointIn } from '../../kernel/audit/checkpoint.ts';
import { checkBundle, checkProof, erasePayloads, exportRun } from '../../kernel/audit/index.ts';
import { proveCall } from '../../kernel/audit/prove.ts';
import { verifyLog } from '../../kernel/audit/verify.ts';
import type { Database } from '../../kernel/database.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { complain, print, printExact, printJson } from '../output.ts';
import { since } from '../text.ts';

interface VerifyOptions {
  readonly checkpoint?: string[];
  readonly key?: string[];
}

export function auditVerify(global: GlobalOptions, options: VerifyOptions): Promise<void> {
  return withApp(global, async ({ database, kernel }) => {
    const started = Date.now();
    const report = await verifyLog(database, {
      publicKeys: options.key,
      expectCheckpoints: options.checkpoint?.map(readCheckpoint),
      artifacts: kernel.artifacts,
      onProgress:
        global.json || !process.stderr.isTTY
          ? undefined
          : (done, total) => void process.stderr.write(`\r${done}/${total} entries`),
    });
    if (!global.json && process.stderr.isTTY) complain('');
    if (!report.ok) process.exitCode = 1;
    if (global.json) return printJson(report);
    const { checkpoints, first } = report;
    print(
      report.ok
        ? `The log is whole: ${report.size} entries verified in ${((Date.now() - started) / 1000).toFixed(1)} s.`
        : 'THE LOG IS DAMAGED.',
    );
    print(`Root        ${report.root}`);
    print(
      `Checkpoints ${checkpoints.verified} verified, the last covers ${checkpoints.lastSize} entries; ${report.unsigned} not signed for yet`,
    );
    print(
      `Payloads    ${report.payloads.verified} match, ${report.payloads.erased} erased, ${report.payloads.unkept} never kept`,
    );
    print(`Artifacts   ${report.artifacts.verified} match, ${report.artifacts.erased} erased`);
    for (const { key, trust } of report.keys) print(`Key         ${key} (${trust})`);
    if (first) print(`\nFirst bad entry: ${first.seq ?? 'none in particular'}\n${first.message}`);
    const others = report.problems.filter((problem) => problem !== first);
    for (const problem of others.slice(0, 10)) print(`- ${problem.seq ?? ''} ${problem.message}`);
    const more = others.length - 10 + report.more;
    if (more > 0) print(`… and ${more} more`);
  });
}

function readCheckpoint(file: string): string {
  const note = readFileSync(file, 'utf8');
  if (checkpointIn(note)) return note;
  throw new CliError(`${file} is not a checkpoint; \`countersign audit checkpoint\` prints one.`, 2);
}

export function auditProve(
  global: GlobalOptions,
  callId: string,
  options: { output?: string },
): Promise<void> {
  return withApp(global, async ({ database, checkpoints }) => {
    const proof = await proveCall(database, await checkpoints.signer(), callId);
    if (!proof)
      throw new CliError(
        `The log has no call ${callId}. Replies give the id as correlation_id or tool_call_id, and the Activity page of the web app lists them.`,
      );
    write(JSON.stringify(proof, null, 2), options.output, `Proof of call ${callId}`);
  });
}

/** Needs neither the store nor the configuration: anyone who has the file can check it. */
export async function auditCheck(
  global: GlobalOptions,
  file: string,
  options: { key?: string[] },
): Promise<void> {
  const content = parseFile(file);
  const format =
    typeof content === 'object' && content !== null && 'format' in content ? String(content.format) : '';
  const isBundle = format.startsWith('countersign-bundle');
  if (!isBundle && !format.startsWith('countersign-proof'))
    throw new CliError(`${file} is neither a proof nor a bundle that Countersign wrote.`, 2);
  const report = (isBundle ? checkBundle : checkProof)(content, { publicKeys: options.key });
  if (!report.ok) process.exitCode = 1;
  if (global.json) return printJson(report);
  print(report.ok ? `The ${isBundle ? 'bundle' : 'proof'} holds.` : 'IT DOES NOT HOLD.');
  for (const problem of report.problems) print(`- ${problem}`);
  for (const { seq, entry } of report.entries)
    print(
      `${String(seq).padStart(8)}  ${entry.at}  ${entry.kind.padEnd(9)} ${entry.tool ?? ''} ${entry.status ?? ''} ${entry.principal ?? ''}`,
    );
  if (report.key)
    print(
      `Signed by ${report.key}${report.trusted ? '' : ' — nobody but the file vouches for this key; compare it or pass --key'}`,
    );
}

function parseFile(file: string): unknown {
  const text = readFileSync(file === '-' ? 0 : file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : error}`);
  }
}

export function auditExport(global: GlobalOptions, options: { run: string; output?: string }): Promise<void> {
  return withApp(global, async ({ database, kernel, checkpoints }) => {
    await kernel.flush();
    const bundle = await exportRun(database, options.run, {
      artifacts: kernel.artifacts,
      signer: await checkpoints.signer(),
    });
    if (!bundle) throw new CliError(`The log has no run ${options.run}.`);
    write(JSON.stringify(bundle, null, 2), options.output, `Bundle of run ${options.run}`);
  });
}

export function auditErase(
  global: GlobalOptions,
  options: { before?: string; call?: string[] },
): Promise<void> {
  return withApp(global, async ({ database, kernel, person, now }) => {
    if (!options.before && !options.call)
      throw new CliError('Say what to erase: --before 90d, --call ID, or both.', 2);
    for (const call of options.call ?? []) await mustHaveCall(database, call);
    const before = options.before === undefined ? undefined : since(options.before, now());
    const erased = await erasePayloads(
      database,
      { before, calls: options.call },
      { artifacts: kernel.artifacts, principal: principalName(person), now: now() },
    );
    if (global.json) return printJson(erased);
    print(
      `Erased ${erased.payloads} payloads, ${erased.artifacts.length} artifacts and the arguments of ${erased.approvals} decided approvals. Every proof still holds.`,
    );
  });
}

async function mustHaveCall({ db }: Database, call: string): Promise<void> {
  const entry = await db.selectFrom('audit_log').select('seq').where('call_id', '=', call).executeTakeFirst();
  if (!entry) throw new CliError(`The log has no call ${call}; nothing was erased.`);
}

export function auditRotate(global: GlobalOptions): Promise<void> {
  return withApp(global, async ({ checkpoints, kernel, now }) => {
    await kernel.flush();
    const signer = await checkpoints.signer();
    await signer.rotate(now());
    if (global.json) return printJson({ key: signer.key.text });
    print(
      `New signing key: ${signer.key.text}\nThe old key vouches for it in the log. Keep a copy of this line elsewhere.`,
    );
  });
}

export function auditKey(global: GlobalOptions): Promise<void> {
  return withApp(global, async ({ checkpoints }) => {
    const { key } = await checkpoints.signer();
    if (global.json) printJson({ key: key.text });
    else print(key.text);
  });
}

export function auditCheckpoint(global: GlobalOptions): Promise<void> {
  return withApp(global, async ({ ports, checkpoints }) => {
    await checkpoints.writeIfGrown();
    const note = await ports.audit.checkpoint();
    if (global.json) return printJson({ checkpoint: note ?? null });
    if (note === undefined) return complain('No checkpoint has been written yet: the log is empty.');
    // Signed to the last byte: one newline more and it no longer verifies.
    printExact(note);
  });
}

function write(text: string, output: string | undefined, what: string): void {
  if (output === undefined) {
    print(text);
    return;
  }
  writeFileSync(output, `${text}\n`, { mode: 0o600 });
  complain(`${what} written to ${output}. Check it anywhere with: countersign audit check ${output}`);
}
