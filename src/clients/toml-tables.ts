/** Removes `[TABLE.NAME]` and what is below it, line by line; a comment above the next table stays with that table. */
export function withoutTables(text: string, table: string, names: readonly string[]): string {
  const heads = names
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .map((name) => `${name}|"${name}"`);
  const mine = new RegExp(`^\\s*\\[${table}\\.(${heads.join('|')})(\\..+)?\\]\\s*(#.*)?$`);
  const kept: string[] = [];
  let inside = false;
  let above: string[] = [];
  let loose: string[] = [];
  const leave = (): void => {
    kept.push(...(loose[0]?.trim() === '' ? [] : above), ...loose);
    above = [];
  };
  for (const line of text.split('\n')) {
    if (/^\s*\[/.test(line)) {
      const wasInside = inside;
      inside = mine.test(line);
      if (wasInside && !inside) leave();
      // The blank lines above belong to what is removed.
      while (inside && !wasInside && kept.at(-1)?.trim() === '') above.unshift(kept.pop() ?? '');
      loose = [];
    }
    if (!inside) kept.push(line);
    else if (/^\s*(#.*)?$/.test(line)) loose.push(line);
    else loose = [];
  }
  if (inside) leave();
  return kept.join('\n');
}
