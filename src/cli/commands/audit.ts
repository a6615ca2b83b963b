import { readFileSync, writeFileSync } from 'node:fs';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import type { JsonObject } from '../../contract/json.ts';
import { principalName } from '../../contract/principal.ts';
import {
  checkBundle,
  checkProof,
  erasePayloads,
  exportRun,
  isReceipt,
  type Problem,
  type VerifyReport,
} from '../../kernel/log/index.ts';
import { checkpointIn } from '../../kernel/log/signing/checkpoint.ts';
import { describeKeyMismatch } from '../../kernel/log/signing/key-mismatch.ts';
import type { EntryFormat } from '../../kernel/log/stream.ts';
import { isCallInLog } from '../../kernel/views/audit.ts';
import { paint } from '../../terminal/color.ts';
import { print, printExact, printJson, printStderr, startProgress } from '../../terminal/output.ts';
import { counted, plainText, since } from '../../terminal/text.ts';
import { withApp, withLog } from '../context.ts';
import { startHelper } from '../verify-helper.ts';
import { type EntryOptions, exportEntries } from './export-entries.ts';

interface VerifyOptions {
  readonly checkpoint?: string[];
  readonly key?: string[];
  readonly signer?: string[];
  readonly receipt?: string[];
}

export async function auditVerify(global: GlobalOptions, options: VerifyOptions): Promise<void> {
  const expectCheckpoints = options.checkpoint?.map(readCheckpoint);
  const signers = options.signer?.map(readFingerprint);
  const receipts = options.receipt?.map(readReceipt);
  return withLog(global, async (log, storageUrl) => {
    const started = Date.now();
    const progress = startProgress();
    const helper = startHelper({ url: storageUrl, rows: true });
    const verifying = log.verify({
      helper: helper?.read,
      publicKeys: options.key,
      expectCheckpoints,
      signers,
      receipts,
      onProgress: global.json ? undefined : (done, total) => progress.show('entries', done, total),
    });
    const report = await verifying.finally(async () => {
      progress.end();
      await helper?.close();
    });
    if (!report.ok) process.exitCode = 1;
    // What cannot be read is in the report.
    const mismatch = await log.keyMismatch().catch(() => undefined);
    if (mismatch !== undefined) printStderr(`Warning: ${describeKeyMismatch(mismatch)}`);
    if (global.json) return printJson(report);
    const { checkpoints, first } = report;
    // What is beyond the problems that are listed may be of any kind.
    const differsInRows = report.more === 0 && report.problems.every(({ code }) => code === 'row');
    print(
      report.ok
        ? paint(
            'green',
            `Verified ${counted(report.size, 'entry', 'entries')} in ${((Date.now() - started) / 1000).toFixed(1)} s. No problems found.`,
          )
        : paint(
            'red',
            `Verification FAILED: ${differsInRows ? 'rows in the database differ from the audit log' : 'the audit log is damaged or was changed'}.`,
          ),
    );
    print(`Root        ${report.root}`);
    print(
      `Checkpoints ${checkpoints.verified} verified; the latest covers ${counted(checkpoints.lastSize, 'entry', 'entries')}; ${counted(report.unsigned, 'entry', 'entries')} not yet signed`,
    );
    print(
      `Payloads    ${report.payloads.verified} match, ${report.payloads.erased} erased, ${report.payloads.unkept} never stored`,
    );
    print(`Artifacts   ${report.artifacts.verified} match, ${report.artifacts.erased} erased`);
    for (const { key, trust } of report.keys) print(`Key         ${key} (${trust})`);
    printSigners(report.passkeys);
    const { count, first: reversed } = report.backwards;
    if (reversed)
      print(
        `Times       ${counted(count, 'entry is', 'entries are')} dated before an earlier one; the first is entry ${reversed.seq} (${reversed.at} after ${reversed.after})`,
      );
    if (first)
      print(
        `\n${differsInRows ? describeDifference(first) : `First invalid entry: ${placeOf(first)}`}\n${first.message}`,
      );
    const others = report.problems.filter((problem) => problem !== first);
    for (const problem of others.slice(0, 10)) print(`- ${problem.seq ?? ''} ${problem.message}`);
    const more = others.length - 10 + report.more;
    if (more > 0) print(`… and ${counted(more, 'more problem')}`);
  });
}

function printSigners({ signers, signatures, resets, mode }: VerifyReport['passkeys']): void {
  if (signers.length === 0 && resets === 0) return;
  print(`Passkeys    ${counted(signatures, 'signature')} verified; signed approvals: ${mode}`);
  for (const { fingerprint, person, name, trust } of signers)
    print(`Signer      ${fingerprint} ${person}, ${plainText(name)} (${trust})`);
  if (resets > 0)
    print(
      `Reset       all passkeys were reset ${counted(resets, 'time')}; earlier keys do not vouch for later ones`,
    );
}

function readFingerprint(given: string): string {
  const digits = given.replaceAll(/[\s:-]/g, '').toLowerCase();
  if (/^[0-9a-f]{32}$/.test(digits)) return digits;
  throw new CliError(
    `${given} is not the fingerprint of a passkey (32 hexadecimal digits). \`countersign passkeys\` lists them.`,
    2,
  );
}

function readReceipt(file: string): JsonObject {
  const content = parseFile(file);
  if (isReceipt(content)) return content;
  throw new CliError(
    `${file} is not a receipt. Create one with \`countersign audit receipt ID\` after you have signed.`,
    2,
  );
}

/** Where only a range is known, its first entry need not be the bad one. */
const placeOf = ({ seq, to }: Problem): string =>
  seq === undefined
    ? 'not tied to one entry'
    : to === undefined || to === seq
      ? `${seq}`
      : `in ${seq} to ${to}`;

/** The entry is intact; it says what the row should be. */
const describeDifference = ({ seq }: Problem): string =>
  seq === undefined ? 'First difference:' : `First difference (see entry ${seq}):`;

function readCheckpoint(file: string): string {
  const note = readFileSync(file, 'utf8');
  if (checkpointIn(note)) return note;
  throw new CliError(`${file} is not a checkpoint. Create one with \`countersign audit checkpoint\`.`, 2);
}

export function auditProve(
  global: GlobalOptions,
  callId: string,
  options: { output?: string },
): Promise<void> {
  return withLog(global, async (log) => {
    const proof = await log.prove(callId);
    if (!proof)
      throw new CliError(
        `Call ${callId} is not in the audit log. Call IDs appear in replies (correlation_id or tool_call_id) and on the Activity page.`,
      );
    write(global, proof, options.output, `Proof of call ${callId}`);
  });
}

export function auditReceipt(
  global: GlobalOptions,
  approval: string,
  options: { output?: string },
): Promise<void> {
  return withLog(global, async (log) => {
    const receipt = await log.receipt(approval);
    if (!receipt)
      throw new CliError(`Approval ${approval} was not signed with a passkey, so it has no receipt.`);
    const { output } = options;
    if (output === undefined) return printJson(receipt);
    writeFileSync(output, `${JSON.stringify(receipt, null, 2)}\n`, { mode: 0o600 });
    if (global.json) return printJson({ file: output });
    printStderr(
      `Receipt of approval ${approval} written to ${output}. Store it elsewhere. To compare the audit log with it: countersign audit verify --receipt ${output}`,
    );
  });
}

/** Needs neither the store nor the configuration: anyone who has the file can check it. */
export async function auditCheck(
  global: GlobalOptions,
  file: string,
  options: { key?: string[]; signer?: string[] },
): Promise<void> {
  const signers = options.signer?.map(readFingerprint);
  const content = parseFile(file);
  const format =
    typeof content === 'object' && content !== null && 'format' in content ? String(content.format) : '';
  const isBundle = format.startsWith('countersign-bundle');
  if (!isBundle && !format.startsWith('countersign-proof'))
    throw new CliError(`${file} is not a Countersign proof or bundle.`, 2);
  const report = (isBundle ? checkBundle : checkProof)(content, { publicKeys: options.key, signers });
  if (!report.ok) process.exitCode = 1;
  if (global.json) return printJson(report);
  print(
    report.ok
      ? paint(
          report.trusted ? 'green' : 'yellow',
          `The ${isBundle ? 'bundle' : 'proof'} is valid${report.trusted ? '' : ' for an unverified key'}.`,
        )
      : paint('red', `INVALID: the ${isBundle ? 'bundle' : 'proof'} failed verification.`),
  );
  for (const problem of report.problems) print(`- ${problem}`);
  for (const { seq, entry } of report.entries)
    print(
      `${String(seq).padStart(8)}  ${entry.at}  ${entry.kind.padEnd(9)} ${entry.tool ?? ''} ${entry.status ?? ''} ${entry.principal ?? ''}`,
    );
  for (const { person, fingerprint, call } of report.signers)
    print(`Approved by ${person} with passkey ${fingerprint} (call ${call})`);
  if (report.key)
    print(
      `Signed by ${report.key}${report.trusted ? '' : ' (unverified: only this file names the key; compare it with a key you trust, or pass --key)'}`,
    );
}

function parseFile(file: string): unknown {
  const text = readFileSync(file === '-' ? 0 : file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(`${file} is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
}

interface ExportOptions extends EntryOptions {
  readonly run?: string;
  readonly format?: EntryFormat;
}

/** Reads only, unless statements about the run are to be signed: that takes the key, and the log it belongs to. */
export async function auditExport(global: GlobalOptions, options: ExportOptions): Promise<void> {
  const { run, format } = options;
  if (format) return exportEntries(global, format, options);
  if (run === undefined || options.follow || options.after !== undefined)
    throw new CliError('Specify --run ID, or --format jsonl or ecs with or without --follow.', 2);
  const bundle = options.sign
    ? await withApp(global, async ({ database, kernel, checkpoints }) =>
        exportRun(database, run, { artifacts: kernel.artifacts, signer: await checkpoints.signer() }),
      )
    : await withLog(global, (log) => log.exportRun(run));
  if (!bundle) throw new CliError(`Run ${run} is not in the audit log.`);
  write(global, bundle, options.output, `Bundle of run ${run}`);
}

export function auditErase(
  global: GlobalOptions,
  options: { before?: string; call?: string[] },
): Promise<void> {
  return withApp(global, async ({ database, kernel, person, now }) => {
    if (!options.before && !options.call)
      throw new CliError('Specify what to erase: --before AGE (such as 90d), --call ID, or both.', 2);
    for (const call of options.call ?? [])
      if (!(await isCallInLog(database, call)))
        throw new CliError(`Call ${call} is not in the audit log. Nothing was erased.`);
    const before = options.before === undefined ? undefined : since(options.before, now());
    const erased = await erasePayloads(
      database,
      { before, calls: options.call },
      { artifacts: kernel.artifacts, principal: principalName(person), now: now() },
    );
    if (global.json) return printJson(erased);
    print(
      `Erased ${counted(erased.payloads, 'payload')}, ${counted(erased.artifacts.length, 'artifact')} and the arguments of ${counted(erased.approvals, 'decided approval')}. Existing proofs remain valid.`,
    );
  });
}

export function auditRotate(global: GlobalOptions): Promise<void> {
  return withApp(global, async ({ checkpoints, kernel, now }) => {
    await kernel.flush();
    const signer = await checkpoints.signer();
    await signer.rotate(now());
    if (global.json) return printJson({ key: signer.key.text });
    print(
      `New signing key: ${signer.key.text}\nThe old key endorses it in the audit log. Store a copy of this line elsewhere.`,
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
    if (note === undefined) return printStderr('No checkpoint yet: the audit log is empty.');
    // Signed to the last byte: one newline more and it no longer verifies.
    printExact(note);
  });
}

function write(global: GlobalOptions, value: object, output: string | undefined, what: string): void {
  if (output !== undefined) writeFileSync(output, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  if (output === undefined) printJson(value);
  else if (global.json) printJson({ file: output });
  else
    printStderr(
      `${what} written to ${output}. To verify it on any machine: countersign audit check ${output}`,
    );
}
