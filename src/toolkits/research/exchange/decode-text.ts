/** The text of a file in whatever encoding it came, exactly as it stands there: byte order mark and line ends are kept. */
export interface DecodedText {
  readonly text: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  readonly bom: boolean;
}

export function decodeText(bytes: Uint8Array): DecodedText {
  if (starts(bytes, 0xef, 0xbb, 0xbf)) return { text: read(bytes, 'utf-8'), encoding: 'utf-8', bom: true };
  if (starts(bytes, 0xff, 0xfe)) return { text: read(bytes, 'utf-16le'), encoding: 'utf-16le', bom: true };
  if (starts(bytes, 0xfe, 0xff)) return { text: read(bytes, 'utf-16be'), encoding: 'utf-16be', bom: true };
  const wide = guessWide(bytes);
  if (wide) return { text: read(bytes, wide), encoding: wide, bom: false };
  try {
    return {
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
      encoding: 'utf-8',
      bom: false,
    };
  } catch {
    return { text: read(bytes, 'windows-1252'), encoding: 'windows-1252', bom: false };
  }
}

const read = (bytes: Uint8Array, encoding: string): string =>
  new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);

const starts = (bytes: Uint8Array, ...mark: number[]): boolean =>
  mark.every((byte, at) => bytes[at] === byte);

/** Latin text in UTF-16 has a zero in every second byte; no text in another encoding does. */
function guessWide(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const looked = Math.min(bytes.length - (bytes.length % 2), 2000);
  if (looked < 4) return undefined;
  let even = 0;
  let odd = 0;
  for (let at = 0; at < looked; at += 2) {
    if (bytes[at] === 0) even += 1;
    if (bytes[at + 1] === 0) odd += 1;
  }
  const most = looked / 2;
  if (odd > most * 0.4 && even < odd * 0.25) return 'utf-16le';
  return even > most * 0.4 && odd < even * 0.25 ? 'utf-16be' : undefined;
}
