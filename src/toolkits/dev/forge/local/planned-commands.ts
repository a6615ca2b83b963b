import { shellWord } from '../../../../lib/shell-word.ts';
import type { Plan } from '../../change/plan.ts';

/** The git commands `publish` runs, written for a person who wants to check them. */
export function plannedCommands(plan: Plan, folder: string, remote: string | undefined): readonly string[] {
  const git = `git -C ${shellWord(folder)}`;
  const ref = shellWord(`refs/heads/${plan.headBranch}`);
  return [
    `GIT_INDEX_FILE=<temporary> ${git} read-tree ${plan.baseCommit}`,
    ...plan.files.map(({ path }) => `${git} hash-object -w --no-filters --stdin < ${shellWord(path)}`),
    ...plan.files.map(
      ({ path, mode }) =>
        `GIT_INDEX_FILE=<temporary> ${git} update-index --add --cacheinfo ${mode},<blob>,${shellWord(path)}`,
    ),
    `GIT_INDEX_FILE=<temporary> ${git} write-tree`,
    `${git} commit-tree <tree> -p ${plan.baseCommit} -m ${shellWord(plan.message)}`,
    ...(remote ? [`${git} push ${shellWord(remote)} <commit>:${ref}`] : []),
    `${git} update-ref ${ref} <commit> ''`,
    `open pull request ${shellWord(plan.title)} from ${shellWord(plan.headBranch)} into ${shellWord(plan.baseBranch)}`,
  ];
}
