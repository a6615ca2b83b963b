import { z } from 'zod';
import type { XServices } from '../services.ts';

const PREFIX = 'watched:';
const choice = z.object({ username: z.string(), watched: z.boolean(), by: z.string() });

export interface WatchedAccount {
  readonly username: string;
  /** Named by the configuration; a person may have switched it off, not out of the file. */
  readonly configured: boolean;
}

type Stored = Pick<XServices, 'settings' | 'growth'>;

/** The accounts that are watched now: those of the configuration, as people changed the list since. */
export async function watchedAccounts({ settings, growth }: Stored): Promise<readonly WatchedAccount[]> {
  const choices = new Map(
    (await growth.journal.cursors(PREFIX)).flatMap(({ name, value }) => {
      const read = choice.safeParse(JSON.parse(value)).data;
      return read ? [[name.slice(PREFIX.length), read] as const] : [];
    }),
  );
  const configured = settings.targets.accounts.map((name) => name.replace('@', ''));
  const known = new Set(configured.map((name) => name.toLowerCase()));
  const added = [...choices.values()].filter(
    ({ username, watched }) => watched && !known.has(username.toLowerCase()),
  );
  return [
    ...configured
      .filter((name) => choices.get(name.toLowerCase())?.watched !== false)
      .map((username) => ({ username, configured: true })),
    ...added.map(({ username }) => ({ username, configured: false })),
  ];
}

export async function setWatched(
  { growth }: Pick<XServices, 'growth'>,
  { username, watched, by }: z.output<typeof choice>,
  now: Date,
): Promise<void> {
  const value = JSON.stringify({ username, watched, by });
  await growth.journal.setCursor(`${PREFIX}${username.toLowerCase()}`, value, now);
}
