import type { Approval, Log } from '../../contract/ports.ts';
import { describeRequester, principalName } from '../../contract/principal.ts';
import { showUnseenLine } from '../../lib/unseen.ts';

export type WebhookKind = 'json' | 'ntfy' | 'slack' | 'discord';

export interface WebhookOptions {
  /** Knowing it is enough to post there, so it is never logged. */
  readonly url: string;
  readonly kind: WebhookKind;
  readonly token: string | undefined;
  readonly log: Log;
  /** Where a person opens the approval; undefined where no address is known. */
  inboxUrl(id: number): Promise<string | undefined>;
  /** Waits before the second attempt, the third and so on. */
  readonly retryMs?: readonly number[];
}

const TIMEOUT_MS = 5_000;
const RETRY_MS: readonly number[] = [1_000, 5_000];
/** A service that asks for more patience than this does without the message. */
const MAX_WAIT_MS = 30_000;

/** A title quotes texts and names that others wrote; they stay here. From the first quote to the last, as texts quote too. */
export const withoutContent = (title: string): string => showUnseenLine(title.replace(/“.*”/su, '“…”'));

/** Posts a link to each pending approval. Nothing that comes back is read: a reply can never approve. */
export function createWebhook(options: WebhookOptions): (approval: Approval) => Promise<void> {
  const { url, kind, token, log, inboxUrl, retryMs = RETRY_MS } = options;
  return async (approval) => {
    const { target, body } = MESSAGES[kind](approval, await inboxUrl(approval.id), url);
    const init = {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      // Another address was never configured.
      redirect: 'error',
    } as const;
    for (let attempt = 0; ; attempt += 1) {
      const problem = await attemptPost(target, init);
      if (problem === undefined) return;
      const wait = Math.max(retryMs[attempt] ?? 0, problem.waitMs);
      if (!problem.retry || attempt >= retryMs.length || wait > MAX_WAIT_MS) {
        log.warn('The approval webhook failed', {
          approval: approval.id,
          kind,
          reason: problem.reason,
          attempts: attempt + 1,
        });
        return;
      }
      // Not worth keeping a finished command alive for.
      await new Promise((resolve) => setTimeout(resolve, wait).unref());
    }
  };
}

interface Problem {
  readonly reason: string;
  readonly retry: boolean;
  readonly waitMs: number;
}

async function attemptPost(target: string, init: RequestInit): Promise<Problem | undefined> {
  try {
    const response = await fetch(target, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    if (response.ok) return undefined;
    const { status } = response;
    const seconds = Number(response.headers.get('retry-after'));
    return {
      reason: `HTTP ${status}`,
      retry: status === 429 || status >= 500,
      waitMs: Number.isFinite(seconds) ? Math.max(0, seconds) * 1000 : 0,
    };
  } catch (error) {
    return { reason: reasonOf(error), retry: true, waitMs: 0 };
  }
}

/** A code or a name: messages may repeat the address. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return error instanceof Error ? error.name : 'unknown';
}

interface Message {
  readonly target: string;
  readonly body: object;
}

type Link = string | undefined;

const MESSAGES: Readonly<Record<WebhookKind, (approval: Approval, link: Link, url: string) => Message>> = {
  json: (approval, link, url) => ({ target: url, body: jsonBody(approval, link) }),
  /** Published as JSON at the root, because headers carry no other scripts; the last part of the path is the topic. */
  ntfy(approval, link, url) {
    const target = new URL(url);
    const parts = target.pathname.split('/').filter(Boolean);
    const topic = decodeURIComponent(parts.pop() ?? '');
    target.pathname = `/${parts.join('/')}`;
    return {
      target: target.href,
      body: {
        topic,
        title: titleOf(approval),
        message: requestLine(approval),
        ...(link && { click: link }),
        priority: approval.effect === 'destroy' ? 4 : 3,
      },
    };
  },
  slack: (approval, link, url) => ({
    target: url,
    body: {
      text: `${forSlack(titleOf(approval))}\n${forSlack(requestLine(approval))}\n${link ? `<${link}|Open in the inbox>` : commandOf(approval)}`,
      unfurl_links: false,
      unfurl_media: false,
    },
  }),
  discord: (approval, link, url) => ({
    target: url,
    body: {
      content: `**${forDiscord(titleOf(approval))}**\n${forDiscord(requestLine(approval))}\n${link ? `<${link}>` : commandOf(approval)}`,
      allowed_mentions: { parse: [] },
    },
  }),
};

const titleOf = ({ summary }: Approval): string => withoutContent(summary);
const commandOf = ({ id }: Approval): string => `countersign approvals show ${id}`;
const requestLine = ({ id, requester }: Approval): string =>
  showUnseenLine(`Approval ${id} is pending, requested by ${describeRequester(requester)}`);

/** Slack takes these for links and mentions such as `<!channel>`. */
const forSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const forDiscord = (text: string): string => text.replaceAll(/[\\*_~`|>[\]()#-]/gu, '\\$&');

const jsonBody = (
  { id, uuid, tool, toolkit, effect, summary, environment, requester, createdAt, expiresAt }: Approval,
  link: Link,
): object => ({
  event: 'approval_waiting',
  approval_id: id,
  approval_uuid: uuid,
  tool,
  toolkit,
  effect,
  title: withoutContent(summary),
  environment: environment ?? null,
  requester: principalName(requester),
  ordered_by: requester.orderedBy ?? null,
  created_at: createdAt.toISOString(),
  expires_at: expiresAt?.toISOString() ?? null,
  command: `countersign approvals show ${id}`,
  url: link ?? null,
});
