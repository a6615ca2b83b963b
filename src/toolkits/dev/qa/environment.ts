/** What programs need to run at all. Everything else, tokens above all, stays out unless the configuration names it. */
const PLAIN =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|SYSTEMROOT|COMSPEC|PATHEXT|WINDIR|USERPROFILE)$/i;

export function qaEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  allowed: readonly string[],
  tmp: string,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (PLAIN.test(name) || allowed.includes(name))) kept[name] = value;
  }
  return { ...kept, CI: '1', NO_COLOR: '1', TERM: 'dumb', TMPDIR: tmp, TEMP: tmp, TMP: tmp };
}
