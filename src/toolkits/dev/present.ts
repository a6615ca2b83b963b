import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type {
  Environment,
  Presentation,
  PresentationBlock,
  PresentationDraft,
  PresentationTarget,
} from '../../contract/presentation.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { quoted } from '../../lib/words.ts';
import type { Pull } from './forge/port.ts';
import type { Repo } from './repos/directory.ts';
import type { DevServices } from './services.ts';

/** A repository on GitHub is live; one that an emulator on this machine serves is a sandbox. */
function environmentOf(repo: Repo, { settings }: DevServices): Environment {
  if (repo.local) return 'local';
  return isLoopback(new URL(settings.github.base_url).hostname) ? 'sandbox' : 'live';
}

export function repoTarget(repo: Repo, services: DevServices, detail?: string): PresentationTarget {
  const environment = environmentOf(repo, services);
  const place = environment === 'local' ? 'Repository on this machine' : 'Repository on GitHub';
  return { kind: 'repository', label: repo.name, detail: detail ?? place, environment };
}

/** For calls that do not present themselves: the repository of the run. */
export async function devTarget(services: DevServices, args: JsonObject): Promise<PresentationTarget> {
  if (typeof args.run_id === 'string') return repoTarget((await services.open(args.run_id)).repo, services);
  if (typeof args.repo === 'string') return repoTarget(await services.repos.forPerson(args.repo), services);
  return { kind: 'toolkit', label: 'Dev', environment: 'local' };
}

/** A service that is down for the moment must not keep a person from being asked; one that says no must. */
export async function unlessDown<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ToolError && !error.retryable) throw error;
    return undefined;
  }
}

export const pullName = (number: number, found: Pick<Pull, 'title'> | undefined, most = 30): string =>
  found ? `#${number} ${quoted(found.title, most)}` : `pull request #${number}`;

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

interface ChangeWords {
  readonly title: string;
  readonly done: string;
  readonly act: string;
  readonly target: PresentationTarget;
  readonly undo: PresentationDraft['undo'];
  readonly body: readonly PresentationBlock[];
  readonly covers: readonly string[];
}

type Diff = Extract<PresentationBlock, { type: 'diff' }>;

/** The diff stored when the call was asked: it is bound to a commit, so it cannot have changed since. */
export const storedDiff = (earlier: Presentation | undefined, commit: string): Diff | undefined =>
  earlier?.body.find((block): block is Diff => block.type === 'diff' && block.base_commit === commit);

/** A change of files, with the diff git will print of it. */
export function presentDiff(
  { files, base_commit }: Omit<Diff, 'type'>,
  risks: readonly string[],
  { body, ...words }: ChangeWords,
): PresentationDraft {
  const added = files.reduce((sum, file) => sum + file.additions, 0);
  const deleted = files.reduce((sum, file) => sum + file.deletions, 0);
  const size = `${counted(files.length, 'file')}, +${added} −${deleted}`;
  return {
    ...words,
    kind: 'code',
    gist: `${size}: ${files.map(({ path }) => path).join(', ')}`,
    effect: { text: size, detail: 'Your working tree stays as it is' },
    risks,
    body: [...body, { type: 'diff', title: 'Changed files', base_commit, files }],
  };
}

/** The title and description of a pull request or an issue, or a commit message, as the agent wrote it. */
export const writtenBlock = (
  title: string,
  heading: string,
  text: string,
  labels?: readonly string[],
): PresentationBlock => ({
  type: 'document',
  title,
  heading,
  text,
  ...(labels?.length ? { labels } : {}),
  source: 'agent',
});
