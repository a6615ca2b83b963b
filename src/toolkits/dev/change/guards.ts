import { ToolError } from '../../../contract/errors.ts';
import type { PreviewFile } from '../../../contract/preview.ts';
import type { DevSettings } from '../config.ts';
import { matchesWhole } from '../git/names.ts';

type ContentRules = DevSettings['content'];

const MENTION = /(?<![\w`/@.])@([A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\/[A-Za-z0-9._-]+)?)/g;
const LINK = /\bhttps?:\/\/([^\s/?#<>()"'`]+)[^\s<>()"'`]*/gi;

/**
 * What an agent writes must not notify people or lead them away unless the configuration allows it: mentions and links to
 * other hosts become code, which forges neither notify nor link. What is code already is left alone.
 */
export function neutralise(text: string, { mentions, link_hosts }: ContentRules): string {
  return text
    .split(/(```[\s\S]*?(?:```|$)|`[^`\n]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : plain(part, mentions, link_hosts)))
    .join('');
}

function plain(text: string, mentions: readonly string[], hosts: readonly string[]): string {
  const called = mentions.includes('*')
    ? text
    : text.replace(MENTION, (whole, name: string) => (isNamed(name, mentions) ? whole : `\`@${name}\``));
  if (hosts.includes('*')) return called;
  return called.replace(LINK, (whole, host: string) => (isHost(host, hosts) ? whole : `\`${whole}\``));
}

const isNamed = (name: string, allowed: readonly string[]): boolean =>
  allowed.some((each) => each.replace(/^@/, '').toLowerCase() === name.toLowerCase());

function isHost(authority: string, allowed: readonly string[]): boolean {
  // What stands before an @ is a user name, however much it looks like a host.
  const host = (authority.split('@').pop() ?? '').replace(/:\d+$/, '').toLowerCase();
  return allowed.some((each) => host === each.toLowerCase() || host.endsWith(`.${each.toLowerCase()}`));
}

/** A title with the configured prefix, once. */
export const prefixed = (title: string, { title_prefix: prefix }: ContentRules): string =>
  prefix === '' || title.startsWith(prefix) ? title : `${prefix}${title}`;

export function checkLabels(labels: readonly string[], { labels: allowed }: ContentRules): void {
  if (!allowed) return;
  const refused = labels.filter((label) => !allowed.some((pattern) => matchesWhole(label, pattern)));
  if (refused.length > 0)
    throw new ToolError(
      'not_allowed',
      `The labels ${refused.join(', ')} may not be set. Allowed: ${allowed.join(', ') || 'none'}.`,
      {
        hint: 'Use an allowed label; a person can add others to dev.content.labels.',
        detail: { reason: 'label_not_allowed', labels: refused },
      },
    );
}

/** Refuses texts that contain a secret; `texts` are the arguments by name. */
export function checkTexts(texts: Readonly<Record<string, string>>, { secret_scan }: ContentRules): void {
  if (!secret_scan) return;
  for (const [name, text] of Object.entries(texts)) refuseSecretText(name, text);
}

/** Forms that are secrets by themselves: prefixes their issuers chose so that they can be found. */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/],
  ['a GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b/],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{20,}/],
  ['an AWS access key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  ['a Google API key', /\bAIza[A-Za-z0-9_-]{35}/],
  ['a Slack token', /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/],
  ['a Stripe key', /\b[rs]k_live_[A-Za-z0-9]{20,}/],
  ['an OpenAI or Anthropic key', /\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}/],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/],
  ['a PyPI token', /\bpypi-[A-Za-z0-9_-]{50,}/],
  ['a SendGrid key', /\bSG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{40,}/],
  ['a Countersign token', /\bcs_[A-Za-z0-9_-]{40,}/],
  ['a JSON Web Token', /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}/],
  ['a password in an address', /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/:@$<{]{6,}@[^\s/]+/i],
];

export interface SecretPlace {
  readonly kind: string;
  readonly path: string;
  readonly line: number;
}

/** Looks at the lines a change adds. What it finds is named by place; the value is never repeated. */
export function findSecrets(files: readonly PreviewFile[]): SecretPlace[] {
  return files.flatMap(({ path, patch, binary }) => (binary ? [] : addedSecrets(path, patch)));
}

function addedSecrets(path: string, patch: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  let line = 0;
  let inHunk = false;
  for (const text of patch.split('\n')) {
    const start = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(text);
    if (start) {
      line = Number(start[1]);
      inHunk = true;
    } else if (inHunk && text.startsWith('+')) {
      const kind = secretKind(text.slice(1));
      if (kind) found.push({ kind, path, line });
      line += 1;
    } else if (inHunk && text.startsWith(' ')) line += 1;
  }
  return found;
}

const secretKind = (text: string): string | undefined => KINDS.find(([, pattern]) => pattern.test(text))?.[0];

export function refuseSecrets(files: readonly PreviewFile[]): void {
  const places = findSecrets(files);
  if (places.length > 0)
    throw secretError(places.map(({ path, line, kind }) => `${path} line ${line} (${kind})`));
}

/** The same for a text: an issue, a comment, a message. */
function refuseSecretText(name: string, text: string): void {
  const lines = text.split('\n');
  const places = lines.flatMap((line, index) => {
    const kind = secretKind(line);
    return kind ? [`${name} line ${index + 1} (${kind})`] : [];
  });
  if (places.length > 0) throw secretError(places);
}

const secretError = (places: readonly string[]): ToolError =>
  new ToolError(
    'not_allowed',
    `The text contains what looks like a secret: ${places.slice(0, 10).join('; ')}. Nothing was sent.`,
    {
      hint: 'Remove the secret and read it from the environment. If it is a placeholder, a person can set dev.content.secret_scan = false.',
      detail: { reason: 'secret_found', places: places.slice(0, 10) },
    },
  );
