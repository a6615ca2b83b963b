import { z } from 'zod';
import type { ContentPart } from '../../../contract/outcome.ts';
import type { ArtifactsPort } from '../../../contract/ports.ts';
import type { Reply, ReplyFile } from '../backends/backend.ts';
import type { Meter } from './meter.ts';

/** What stands for an answer without words. */
const NO_RESPONSE = '(No response)';

/**
 * One response out of what the assistant said on the way and what it said last. The last part always stays; an earlier
 * one goes when a later part says it again, compared without regard to white space and only at word boundaries.
 */
export function aggregate(intermediate: readonly string[], final: string): string {
  const parts = [...intermediate, final].filter((part) => part.trim() !== '');
  const folded = parts.map(fold);
  const kept = parts.filter((_, index) => {
    const part = folded[index] ?? '';
    return !folded.slice(index + 1).some((later) => contains(later, part));
  });
  return kept.length === 0 ? NO_RESPONSE : kept.join('\n\n');
}

const fold = (text: string): string => text.trim().replace(/\s+/g, ' ');

function contains(whole: string, part: string): boolean {
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) {
    if (isBoundary(whole, at) && isBoundary(whole, at + part.length)) return true;
  }
  return false;
}

/** False only inside a word, so that "a" is not found in "answer". */
function isBoundary(text: string, at: number): boolean {
  return !(isWordCharacter(text[at - 1]) && isWordCharacter(text[at]));
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character);

export const MAX_FILE_BYTES = 20 * 1024 * 1024;
const MAX_ALL_BYTES = 50 * 1024 * 1024;

export const tooLarge = (name: string): string => `The file ${name} was omitted: it is too large to send.`;

/** An answer as it is kept until a caller has it. Files are kept as artifacts, by their hash. */
export const answerSchema = z.object({
  text: z.string(),
  model: z.string(),
  steps: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** Null where no price is configured. */
  costUsd: z.number().nullable(),
  pending: z.array(z.object({ approvalId: z.number(), tool: z.string(), reason: z.string() })),
  notices: z.array(z.string()),
  files: z.array(z.object({ id: z.string(), name: z.string(), mediaType: z.string() })),
});

export type Answer = z.output<typeof answerSchema>;

export async function makeAnswer(reply: Reply, meter: Meter, artifacts: ArtifactsPort): Promise<Answer> {
  const notices = [...reply.notices];
  const files: Answer['files'] = [];
  let total = 0;
  for (const file of reply.files) {
    total += file.bytes.length;
    if (file.bytes.length > MAX_FILE_BYTES || total > MAX_ALL_BYTES) {
      total -= file.bytes.length;
      notices.push(tooLarge(file.name));
      continue;
    }
    const { id } = await artifacts.write(file.name, file.mediaType, file.bytes);
    files.push({ id, name: file.name, mediaType: file.mediaType });
  }
  return {
    text: aggregate(reply.intermediate, reply.final),
    model: reply.model,
    steps: meter.steps,
    inputTokens: meter.inputTokens,
    outputTokens: meter.outputTokens,
    costUsd: meter.unpriced === undefined ? meter.costUsd : null,
    pending: reply.pending.map((item) => ({ ...item })),
    notices,
    files,
  };
}

/** The answer's files as content of the reply; one that is gone is said to be so. */
export async function readFiles(
  answer: Answer,
  artifacts: ArtifactsPort,
): Promise<{ parts: ContentPart[]; notices: string[] }> {
  const parts: ContentPart[] = [];
  const notices: string[] = [];
  for (const { id, name, mediaType } of answer.files) {
    const bytes = await artifacts.read(id);
    if (bytes) parts.push(toContent({ name, mediaType, bytes }));
    else notices.push(`The file ${name} is no longer stored.`);
  }
  return { parts, notices };
}

function toContent({ name, mediaType, bytes }: ReplyFile): ContentPart {
  const data = Buffer.from(bytes).toString('base64');
  if (mediaType.startsWith('image/')) return { type: 'image', data, mimeType: mediaType };
  if (mediaType.startsWith('audio/')) return { type: 'audio', data, mimeType: mediaType };
  return {
    type: 'resource',
    uri: `attachment://${encodeURIComponent(name)}`,
    mimeType: mediaType,
    blob: data,
  };
}
