import { defineToolkit } from '../../contract/toolkit.ts';
import { toolhub } from './dialect.ts';
import { devTarget } from './present.ts';
import { served } from './served.ts';
import { connectDev, type DevServices } from './services.ts';
import { codeBranchPrCreate } from './tools/code-branch-pr-create.ts';
import { codeBranchPrUpdate } from './tools/code-branch-pr-update.ts';
import { codePatchGenerate } from './tools/code-patch-generate.ts';
import { codeRead, codeSearch, codeTree } from './tools/code-read.ts';
import { githubIssuesBatchCreate } from './tools/github-issues-batch-create.ts';
import { githubIssueGet, githubIssuesCreate, githubIssuesList } from './tools/issues.ts';
import { devIssueClose, devPrClose, devPrMerge, devPrReview } from './tools/people-only.ts';
import { githubPrCommentCreate, githubPrFilesList } from './tools/pull-requests.ts';
import { githubChecksGet, githubPrCommentsList, githubPrGet, githubPrList } from './tools/pulls.ts';
import { qaLint, qaTest } from './tools/quality.ts';
import { runsCreate } from './tools/runs.ts';

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
  codeBranchPrUpdate,
  codeRead,
  codeTree,
  codeSearch,
  githubIssueGet,
  githubIssuesList,
  githubPrList,
  githubPrCommentsList,
  githubChecksGet,
  devPrMerge,
  devPrReview,
  devPrClose,
  devIssueClose,
];

export const toolkit = defineToolkit<DevServices>({
  id: 'dev',
  title: 'Dev',
  rank: 2,
  listenEnv: 'TOOLHUB_MCP_LISTEN',
  dialect: toolhub,
  brings: ['governance'],
  tools,
  views: served,
  target: devTarget,
  connect: (host) => connectDev(host),
});
