/** A name that is not taken yet: `Interview`, `Interview (2)`. A file's ending stays at the end. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(wanted)) return wanted;
  const ending = /\.[A-Za-z0-9]{1,5}$/.exec(wanted)?.[0] ?? '';
  const base = wanted.slice(0, wanted.length - ending.length);
  for (let n = 2; ; n += 1) {
    const name = `${base} (${n})${ending}`;
    if (!isTaken(name)) return name;
  }
}

/** A bare file name that every file system takes. */
export function safeFileName(name: string): string {
  const bare = name
    .replace(/[\p{Cc}/\\:*?"<>|]+/gu, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '')
    .trim();
  return bare ? shortened(bare) : 'file';
}

const LONGEST = 120;

function shortened(name: string): string {
  const ending = /\.[A-Za-z0-9]{1,5}$/.exec(name)?.[0] ?? '';
  return name.length > LONGEST ? `${name.slice(0, LONGEST - ending.length).toWellFormed()}${ending}` : name;
}
