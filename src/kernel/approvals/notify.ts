import { execFile } from 'node:child_process';
import type { Approval, Log } from '../../contract/ports.ts';
import { describeRequester } from '../../contract/principal.ts';
import { showUnseenLine } from '../../lib/unseen.ts';
import { createWebhook, type WebhookKind, withoutContent } from './webhook.ts';

export interface NotifyOptions {
  readonly webhook: string | undefined;
  readonly webhookKind: WebhookKind;
  readonly webhookToken: string | undefined;
  readonly desktop: boolean;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  inboxUrl(id: number): Promise<string | undefined>;
  readonly platform?: NodeJS.Platform;
  /** Starts a program and waits for nothing. */
  readonly run?: Run;
}

type Run = (program: string, args: readonly string[], done: () => void) => unknown;

/** Notifies people of a pending approval: its title and who asks, never the content. */
export function createNotifier(options: NotifyOptions): (approval: Approval) => void {
  const { webhook: url, webhookKind: kind, webhookToken: token, desktop, log, inboxUrl } = options;
  const post = url === undefined ? undefined : createWebhook({ url, kind, token, log, inboxUrl });
  return (approval) => {
    const text = showUnseenLine(
      `${withoutContent(approval.summary)}, requested by ${describeRequester(approval.requester)}`,
    );
    if (desktop) notifyDesktop(`Countersign: approval ${approval.id} is pending`, text, options);
    void post?.(approval);
  };
}

/** Where there is a desktop; without one nothing happens and nothing is said. */
function notifyDesktop(
  title: string,
  text: string,
  { env, platform = process.platform, run = execFile }: NotifyOptions,
): void {
  if (platform === 'darwin') {
    const script = `display notification ${JSON.stringify(text)} with title ${JSON.stringify(title)}`;
    run('osascript', ['-e', script], () => {});
  } else if (platform === 'linux' && (env.DISPLAY || env.WAYLAND_DISPLAY)) {
    run('notify-send', ['--app-name=Countersign', title, text], () => {});
  }
}
