/**
 * Output of a command with a bound on memory: the beginning and the end are kept, because a failure is explained in one
 * of them. Characters are never cut in half.
 */
export class CappedText {
  readonly #limit: number;
  readonly #headLimit: number;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headSize = 0;
  #tailSize = 0;
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#headLimit = Math.floor(limit / 2);
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#headLimit - this.#headSize;
    if (room > 0) {
      const part = chunk.subarray(0, room);
      this.#head.push(part);
      this.#headSize += part.length;
    }
    if (chunk.length <= room) return;
    const rest = room > 0 ? chunk.subarray(room) : chunk;
    this.#tail.push(rest);
    this.#tailSize += rest.length;
    const keep = this.#limit - this.#headLimit;
    for (let first = this.#tail[0]; first && this.#tailSize - first.length >= keep; first = this.#tail[0]) {
      this.#tail.shift();
      this.#tailSize -= first.length;
    }
  }

  get truncated(): boolean {
    return this.#total > this.#limit;
  }

  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (!this.truncated) return decode(Buffer.concat([head, tail]));
    const start = head.subarray(0, wholeEnd(head));
    const end = tail.subarray(wholeStart(tail, tail.length - (this.#limit - this.#headLimit)));
    const left = this.#total - start.length - end.length;
    return `${decode(start)}\n[${left} bytes left out]\n${decode(end)}`;
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Where the last whole character ends. */
function wholeEnd(bytes: Buffer): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && lead >= 0 && isContinuation(bytes[lead])) lead -= 1;
  const first = bytes[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return lead >= 0 && lead + length > bytes.length ? lead : bytes.length;
}

/** The first place at or after `from` where a character begins. */
function wholeStart(bytes: Buffer, from: number): number {
  let start = Math.max(0, from);
  for (let skipped = 0; skipped < 3 && isContinuation(bytes[start]); skipped += 1) start += 1;
  return start;
}

/** Stores and clients choke on NUL. */
const decode = (bytes: Buffer): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replaceAll('\0', '\ufffd');
