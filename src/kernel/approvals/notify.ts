import { execFile } from 'node:child_process';
import type { Approval, Log } from '../../contract/ports.ts';
import { describeRequester } from '../../contract/principal.ts';
import { createWebhook, type WebhookKind, withoutContent } from './webhook.ts';

export interface NotifyOptions {
  readonly webhook: string | undefined;
  readonly webhookKind: WebhookKind;
  readonly webhookToken: string | undefined;
  readonly desktop: boolean;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  inboxUrl(id: number): Promise<string | undefined>;
}

/** Notifies people of a pending approval: its title and who asks, never the content. */
export function createNotifier(options: NotifyOptions): (approval: Approval) => void {
  const { webhook: url, webhookKind: kind, webhookToken: token, desktop, log, env, inboxUrl } = options;
  const post = url === undefined ? undefined : createWebhook({ url, kind, token, log, inboxUrl });
  return (approval) => {
    const text = `${withoutContent(approval.summary)}, requested by ${describeRequester(approval.requester)}`;
    if (desktop) notifyDesktop(`Countersign: approval ${approval.id} is pending`, text, env);
    void post?.(approval);
  };
}

/** Where there is a desktop; without one nothing happens and nothing is said. */
function notifyDesktop(title: string, text: string, env: NotifyOptions['env']): void {
  if (process.platform === 'darwin') {
    const script = `display notification ${JSON.stringify(text)} with title ${JSON.stringify(title)}`;
    execFile('osascript', ['-e', script], () => {});
  } else if (process.platform === 'linux' && (env.DISPLAY || env.WAYLAND_DISPLAY)) {
    execFile('notify-send', ['--app-name=Countersign', title, text], () => {});
  }
}
