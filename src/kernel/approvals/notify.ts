import { execFile } from 'node:child_process';
import type { Approval, Log } from '../../contract/ports.ts';
import { principalName } from '../../contract/principal.ts';

export interface NotifyOptions {
  readonly webhook: string | undefined;
  readonly desktop: boolean;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const WEBHOOK_MS = 5_000;

/** Tells people that something waits: which tool and who asks, never the content. */
export function createNotifier({ webhook, desktop, log, env }: NotifyOptions): (approval: Approval) => void {
  return (approval) => {
    const text = `${approval.tool} asked by ${principalName(approval.requester)}`;
    if (desktop) notifyDesktop(`Countersign: approval ${approval.id} waits`, text, env);
    if (webhook) void postWebhook(webhook, approval, log);
  };
}

async function postWebhook(
  url: string,
  { id, uuid, tool, toolkit, effect, requester, createdAt, expiresAt }: Approval,
  log: Log,
): Promise<void> {
  const body = {
    event: 'approval_waiting',
    approval_id: id,
    approval_uuid: uuid,
    tool,
    toolkit,
    effect,
    requester: principalName(requester),
    created_at: createdAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
    command: `countersign approvals show ${id}`,
  };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(WEBHOOK_MS),
    });
    if (!response.ok)
      log.warn('The approval webhook answered with an error', { status: response.status, approval: id });
  } catch (error) {
    log.warn('The approval webhook could not be reached', { error, approval: id });
  }
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
