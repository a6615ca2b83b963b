import { emitKeypressEvents } from 'node:readline';
import { createInterface } from 'node:readline/promises';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Approval, ApprovalsPort } from '../../contract/ports.ts';
import type { ApprovalPresentation } from '../../contract/presentation.ts';
import { type Principal, principalName } from '../../contract/principal.ts';
import { findInboxUrl } from '../../daemon/running-server.ts';
import { paint } from '../../terminal/color.ts';
import { printChange } from '../../terminal/diff.ts';
import { print } from '../../terminal/output.ts';
import { describeBody, describeFacts } from '../../terminal/presentation.ts';
import { plainText, sentence } from '../../terminal/text.ts';
import { withApp } from '../context.ts';

/** How the person answers; a test plays one. */
export interface ReviewInput {
  /** The next key, pressed after the item was shown long enough to be seen. */
  key(): Promise<string>;
  line(question: string): Promise<string>;
  /** Where this approval is open in the inbox. */
  urlOf(id: number): Promise<string | undefined>;
}

/** A key that was pressed before the item could be read, or so close to another one, was meant for something else. */
const SEEN_MS = 400;
const DECISIONS = ['a', 'r'];
const KEYS = 'a approve · r reject · j exact arguments · s skip · q quit';

export function review(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, person } = app;
    if (!process.stdin.isTTY || !process.stdout.isTTY)
      throw new CliError(
        'review needs a terminal. In scripts use countersign approvals list and approve.',
        2,
      );
    const keys = listenForKeys();
    try {
      await reviewAll(kernel.approvals, person, { ...keys, urlOf: (id) => findInboxUrl(app, id) });
    } finally {
      keys.close();
    }
  });
}

/** Shows pending approvals one after the other, the most dangerous first, and decides with one key each. */
export async function reviewAll(
  approvals: ApprovalsPort,
  person: Principal,
  input: ReviewInput,
): Promise<{ readonly approved: number; readonly rejected: number; readonly skipped: number }> {
  const pending = await approvals.list({ states: ['pending'], order: 'danger', limit: 1000 });
  const done = { approved: 0, rejected: 0, skipped: 0 };
  if (pending.length === 0) print('No pending approvals.');
  for (const [at, { id }] of pending.entries()) {
    const approval = await approvals.get(id);
    if (approval?.state !== 'pending') continue;
    const place = `${at + 1} of ${pending.length}`;
    const answer = await decideOne(approvals, person, input, approval, place).catch((error: unknown) =>
      passOver(id, error),
    );
    if (answer === 'quit') break;
    done[answer] += 1;
  }
  print(`\nApproved ${done.approved}, rejected ${done.rejected}, skipped ${done.skipped}.`);
  return done;
}

/** One that is not what was requested must not keep the person from the others. */
function passOver(id: number, error: unknown): 'skipped' {
  if (!(error instanceof ToolError) || error.code !== 'approval_invalid') throw error;
  print(`\n${paint('red', sentence(error.message))}\nTo reject it: countersign approvals reject ${id}`);
  return 'skipped';
}

async function decideOne(
  approvals: ApprovalsPort,
  person: Principal,
  input: ReviewInput,
  approval: Approval,
  place: string,
): Promise<'approved' | 'rejected' | 'skipped' | 'quit'> {
  const { needs_signature: mustSign } = await showOne(approvals, approval, place, input);
  for (;;) {
    switch (await input.key()) {
      case 'a': {
        if (mustSign) {
          print(
            paint(
              'yellow',
              `Needs your passkey. Sign in the inbox: ${(await input.urlOf(approval.id)) ?? 'countersign open'}`,
            ),
          );
          return 'skipped';
        }
        if (approval.effect === 'destroy') {
          const word = await input.line('This call is destructive. Type yes to approve: ');
          if (word.trim() !== 'yes') break;
        }
        if (await approveOne(approvals, person, approval)) return 'approved';
        return 'skipped';
      }
      case 'r': {
        const reason = (await input.line('Reason for the agent (may be empty): ')).trim();
        await approvals.reject(approval.id, person, reason ? { reason } : {});
        print(paint('red', `Rejected approval ${approval.id}.`));
        return 'rejected';
      }
      case 'j':
        print(plainText(JSON.stringify(approval.args, null, 2)));
        break;
      case 's':
        return 'skipped';
      case 'q':
        return 'quit';
      default:
        print(KEYS);
    }
  }
}

async function showOne(
  approvals: ApprovalsPort,
  approval: Approval,
  place: string,
  { urlOf }: ReviewInput,
): Promise<ApprovalPresentation> {
  const shown = await approvals.present(approval);
  const who = plainText(principalName(approval.requester));
  print(
    `\n${paint('dim', `#${approval.id} · ${place} · ${who}`)}\n${paint('bold', plainText(shown.title))}\n`,
  );
  print(describeFacts(shown));
  if (shown.needs_signature)
    print(
      `${paint('yellow', 'Passkey'.padEnd(12))}Signed in the inbox, not here: ${(await urlOf(approval.id)) ?? 'countersign open'}`,
    );
  const body = describeBody(shown.body);
  if (body) print(`\n${body}`);
  const diff = shown.body.find((block) => block.type === 'diff');
  if (diff) printChange(diff);
  print(`\n${paint('dim', shown.needs_signature ? KEYS.replace('a approve · ', '') : KEYS)}`);
  return shown;
}

/** The version that was shown is the one that is approved; a changed one is refused and shown again later. */
async function approveOne(approvals: ApprovalsPort, person: Principal, approval: Approval): Promise<boolean> {
  try {
    const { outcome } = await approvals.approve(approval.id, person, { version: approval.version });
    if (!outcome) print(paint('green', `Approved permit ${approval.id}.`));
    else if (outcome.status === 'ok') print(paint('green', `Approved ${approval.id}: done.`));
    else {
      const why = 'fault' in outcome ? sentence(outcome.fault.message) : outcome.status;
      print(paint('yellow', `Approved ${approval.id}, but it did not run: ${why}`));
    }
    return true;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    print(paint('yellow', sentence(error.message)));
    return false;
  }
}

/** Keys of a terminal. What is pasted or typed as a word decides nothing: a decision is a key that comes alone. */
export function listenForKeys(
  stdin: Pick<NodeJS.ReadStream, 'setRawMode'> & NodeJS.ReadableStream = process.stdin,
  stdout: NodeJS.WritableStream = process.stdout,
): Omit<ReviewInput, 'urlOf'> & { close(): void } {
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  let pressedAt = Number.NEGATIVE_INFINITY;
  let shownAt = 0;
  let saidAt = Number.NEGATIVE_INFINITY;
  let take: ((key: string) => void) | undefined;
  let alone: NodeJS.Timeout | undefined;
  // It listens all the time: what is pressed while a call runs is another key, too.
  const onKey = (_text: string, { name = '', ctrl }: { name?: string; ctrl?: boolean }): void => {
    const now = Date.now();
    const isSoon = now - Math.max(pressedAt, shownAt) < SEEN_MS;
    pressedAt = now;
    const decides = DECISIONS.includes(name);
    const isWord = alone !== undefined || (isSoon && decides);
    clearTimeout(alone);
    alone = undefined;
    const give = (key: string): void => {
      alone = undefined;
      take?.(key);
      take = undefined;
    };
    if (ctrl && name === 'c') give('q');
    else if (!take) return;
    else if (isWord) {
      // Once for all that came together.
      if (now - saidAt > SEEN_MS) print(paint('dim', 'Ignored: keys came within 0.4 s. Press one key.'));
      saidAt = now;
    } else if (decides) alone = setTimeout(give, SEEN_MS, name);
    else if (!isSoon) give(name);
  };
  stdin.on('keypress', onKey);
  return {
    key: () =>
      new Promise((resolve) => {
        shownAt = Date.now();
        take = resolve;
        stdin.resume();
      }),
    async line(question) {
      stdin.setRawMode(false);
      const lines = createInterface({ input: stdin, output: stdout });
      try {
        return await lines.question(question);
      } finally {
        lines.close();
        stdin.setRawMode(true);
      }
    },
    close() {
      clearTimeout(alone);
      stdin.off('keypress', onKey);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
