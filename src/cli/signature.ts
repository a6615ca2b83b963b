import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app/app.ts';
import type { GlobalOptions } from '../contract/command.ts';
import { ToolError } from '../contract/errors.ts';
import type { Approval, ApprovalsPort, Decided } from '../contract/ports.ts';
import { print } from '../terminal/output.ts';

/** Where it is decided: by this command, or by a signature in the browser that it waited for. */
export type ApprovedHere = Decided & { readonly signed?: true };

const POLL_MS = 300;

/**
 * Approves. Where that takes a passkey, a person at a terminal gets the address and the command waits until they have
 * signed in the browser; Ctrl-C ends the waiting. Scripts get `signature_required` immediately.
 */
export async function approveOrWait(
  app: Pick<App, 'kernel' | 'person'>,
  global: GlobalOptions,
  id: string | number,
  options?: Parameters<ApprovalsPort['approve']>[2],
): Promise<ApprovedHere> {
  try {
    return await app.kernel.approvals.approve(id, app.person, options);
  } catch (error) {
    const waits = !global.json && process.stdin.isTTY && process.stdout.isTTY;
    if (!waits || !(error instanceof ToolError) || error.code !== 'signature_required') throw error;
    const stop = new AbortController();
    const onBreak = (): void => stop.abort();
    // Set before the text that names Ctrl-C, which may be pressed as soon as it shows.
    process.once('SIGINT', onBreak);
    try {
      print(`${error.message}\nWaiting for the signature. Press Ctrl-C to stop waiting.`);
      return { approval: await untilSigned(app, id, stop.signal), outcome: undefined, signed: true };
    } finally {
      process.off('SIGINT', onBreak);
    }
  }
}

/** The approval once it is decided and its call has ended, in whichever process. */
async function untilSigned(
  { kernel }: Pick<App, 'kernel'>,
  id: string | number,
  signal: AbortSignal,
): Promise<Approval> {
  const asked = await kernel.approvals.get(id);
  let signatures = 0;
  for (;;) {
    const approval = await kernel.approvals.get(id);
    if (!approval) throw new ToolError('not_found', `Approval ${id} not found.`);
    const wentBack =
      approval.state === 'pending' && JSON.stringify(approval.outcome) !== JSON.stringify(asked?.outcome);
    const isOpen = ['pending', 'executing'].includes(approval.state) || isAboutToRun(approval);
    if (!isOpen || wentBack) return approval;
    if (approval.state === 'pending') {
      const { signed, required } = await kernel.signing.requirement(approval);
      if (signed.length > signatures)
        print(`Signed by ${signed.join(', ')} (${signed.length} of ${required}).`);
      signatures = signed.length;
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted)
      throw new ToolError(
        'signature_required',
        `Stopped waiting. Approval ${approval.id} is still ${approval.state}.`,
      );
  }
}

const isAboutToRun = ({ state, kind }: Approval): boolean => state === 'approved' && kind === 'call';
