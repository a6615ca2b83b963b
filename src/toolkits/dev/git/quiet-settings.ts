/** What git does with text by itself, spelled as a driver of its own. */
const PLAIN_MERGE = 'git merge-file --marker-size=%L %A %O %B';

export interface Quiet {
  /** Filters stay as they are configured: where a person's own files are written, or a person said so. */
  readonly filters?: boolean;
}

/**
 * Whatever a configuration says, reading, building and checking out run no program it names: no hook, no filter, no merge
 * driver. Answers what to set instead, for the names of all settings there are.
 */
export function quietSettings(names: readonly string[], { filters = false }: Quiet = {}): [string, string][] {
  const settings = new Map<string, string>();
  for (const name of names) {
    const [, kind, subject, setting] = /^([a-z]+)\.(.*)\.([a-z]+)$/s.exec(name) ?? [];
    if (kind === 'hook') {
      settings.set(`hook.${subject}.event`, '').set(`hook.${subject}.enabled`, 'false');
    } else if (kind === 'merge' && setting === 'driver') {
      settings.set(name, PLAIN_MERGE);
    } else if (kind === 'filter' && !filters) {
      for (const each of ['smudge', 'clean', 'process']) settings.set(`filter.${subject}.${each}`, '');
      settings.set(`filter.${subject}.required`, 'false');
    }
  }
  return [...settings];
}

/** By variables and not by `-c`: a name may hold an equals sign. */
export function settingsEnv(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}
