import { createHash } from 'node:crypto';

/** The same thing of the same project gets the same guid in every export, so that other programs can recognise it. */
export function guidMaker(project: string): (kind: string, id: number | string) => string {
  return (kind, id) => {
    const hash = createHash('sha256').update(`countersign\n${project}\n${kind}\n${id}`).digest();
    hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
    hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
    const hex = hash.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
      '-',
    );
  };
}
