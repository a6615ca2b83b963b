import type { Plan } from '../../change/plan.ts';

/** The git commands `publish` runs, written for a person who wants to check them. */
export function plannedCommands(plan: Plan, folder: string, remote: string | undefined): readonly string[] {
  const git = `git -C ${JSON.stringify(folder)}`;
  const ref = JSON.stringify(`refs/heads/${plan.headBranch}`);
  return [
    `GIT_INDEX_FILE=<temporary> ${git} read-tree ${plan.baseCommit}`,
    ...plan.files.map(({ path }) => `${git} hash-object -w --no-filters --stdin < ${JSON.stringify(path)}`),
    ...plan.files.map(
      ({ path, mode }) =>
        `GIT_INDEX_FILE=<temporary> ${git} update-index --add --cacheinfo ${mode},<blob>,${JSON.stringify(path)}`,
    ),
    `GIT_INDEX_FILE=<temporary> ${git} write-tree`,
    `${git} commit-tree <tree> -p ${plan.baseCommit} -m ${JSON.stringify(plan.message)}`,
    ...(remote ? [`${git} push ${JSON.stringify(remote)} <commit>:${ref}`] : []),
    `${git} update-ref ${ref} <commit> ''`,
    `open pull request ${JSON.stringify(plan.title)} from ${JSON.stringify(plan.headBranch)} into ${JSON.stringify(plan.baseBranch)}`,
  ];
}
