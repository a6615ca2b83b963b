const PREFIX = /^(.{2,40}?)(?:\s+[-–—|]\s+|:\s+|\s*\/\s*|\s*>\s*)(?=\S)/u;

/** The theme that a code's name begins with ("Work - trust", "Work: trust"), and the rest of the name. */
export function themeOf(name: string): { readonly theme: string | undefined; readonly name: string } {
  const whole = name.trim();
  const match = PREFIX.exec(whole);
  if (!match) return { theme: undefined, name: whole };
  return { theme: match[1]?.trim(), name: whole.slice(match[0].length) };
}
