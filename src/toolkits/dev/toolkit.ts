import { ToolFault } from '../../contract/faults.ts';
import { defineToolkit, type ToolkitHost } from '../../contract/toolkit.ts';
import { listOf } from './allow/tool-allowlist.ts';
import { dev } from './config.ts';
import { connectDev, type DevServices } from './services.ts';
import { codeBranchPrCreate } from './tools/code-branch-pr-create.ts';
import { codePatchGenerate } from './tools/code-patch-generate.ts';
import { devIssueClose } from './tools/dev-issue-close.ts';
import { devPrClose } from './tools/dev-pr-close.ts';
import { devPrMerge } from './tools/dev-pr-merge.ts';
import { githubIssuesBatchCreate } from './tools/github-issues-batch-create.ts';
import { githubIssuesCreate } from './tools/github-issues-create.ts';
import { githubPrCommentCreate } from './tools/github-pr-comment-create.ts';
import { githubPrFilesList } from './tools/github-pr-files-list.ts';
import { githubPrGet } from './tools/github-pr-get.ts';
import { qaLint } from './tools/qa-lint.ts';
import { qaTest } from './tools/qa-test.ts';
import { runsCreate } from './tools/runs-create.ts';
import { views } from './views.ts';

const tools = [
  runsCreate,
  githubIssuesCreate,
  githubIssuesBatchCreate,
  githubPrCommentCreate,
  githubPrGet,
  githubPrFilesList,
  qaTest,
  qaLint,
  codePatchGenerate,
  codeBranchPrCreate,
  devPrMerge,
  devPrClose,
  devIssueClose,
];

export const toolkit = defineToolkit<DevServices>({
  id: 'dev',
  title: 'Code repositories',
  dialect: 'toolhub',
  brings: ['governance'],
  tools,
  views,
  async connect(host) {
    checkNames(host);
    return connectDev(host);
  },
});

/** A misspelt name in an allowlist would silently forbid what it was meant to allow. */
function checkNames(host: ToolkitHost): void {
  const known = new Set(tools.flatMap(({ name, policyName }) => [name, policyName ?? name]));
  const unknown = (names: readonly string[] | undefined) => (names ?? []).filter((name) => !known.has(name));
  const configured = unknown(host.section(dev).tool_allowlist);
  if (configured.length > 0) {
    throw new ToolFault(
      'not_allowed',
      `dev.tool_allowlist names ${configured.join(', ')}, which is no tool of this kit.`,
    );
  }
  const fromEnvironment = unknown(listOf(host.env.TOOL_ALLOWLIST));
  // Lists written for ToolHub name tools that only later versions of it had; they allow nothing here.
  if (fromEnvironment.length > 0)
    host.log.warn(`TOOL_ALLOWLIST names unknown tools: ${fromEnvironment.join(', ')}`);
}
