import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { openApp } from '../../src/app/app.ts';
import { createServed } from '../../src/app/serving.ts';
import { plain } from '../../src/catalogue/dialect.ts';
import '../../src/toolkits/index.generated.ts';
import { toMcpResult } from '../../src/catalogue/mcp.ts';
import { type ErrorCode, ToolError } from '../../src/contract/errors.ts';
import { CHANGE_PROFILES, toolFactory } from '../../src/contract/tool.ts';
import { defineToolkit, type Toolkit } from '../../src/contract/toolkit.ts';
import { toolhub } from '../../src/toolkits/dev/dialect.ts';
import { qualcoder } from '../../src/toolkits/research/dialect.ts';
import { tuitbot } from '../../src/toolkits/x/dialect.ts';
import { serveOnHttp } from '../../src/transports/http.ts';

/** The dialects by the documents they follow. */
const DIALECTS = { tuitbot, toolhub, qualcoder, plain } as const;
export type DialectName = keyof typeof DIALECTS;

const define = toolFactory<object>();
const base = { reach: 'local', category: 'reply', errors: [], profiles: CHANGE_PROFILES } as const;
const RESET = new Date('2031-02-03T04:05:06Z');

const succeed = define({
  ...base,
  name: 'reply_succeed',
  title: 'Succeed',
  summary: 'Succeeds.',
  effect: 'change',
  input: z.object({ text: z.string(), run_id: z.string().optional() }),
  output: z.object({ written: z.string() }),
  present: ({ text }) => ({ title: `Write “${text}”` }),
  runOf: ({ run_id }) => run_id,
  preview: async ({ text }) => ({ would_write: text }),
  async run({ text }, { note, attach }) {
    note({ pages: 2 });
    attach({ type: 'resource', uri: 'file:///report.txt', mimeType: 'text/plain', text: 'Report' });
    return { written: text };
  },
});

const fail = define({
  ...base,
  name: 'reply_fail',
  title: 'Fail',
  summary: 'Fails as asked.',
  effect: 'change',
  input: z.object({ code: z.string(), unknown: z.boolean().default(false) }),
  output: z.object({}),
  async run({ code, unknown }) {
    throw new ToolError(code as ErrorCode, `It failed with ${code}.`, {
      detail: { at: 'line 3' },
      resetAt: RESET,
      ...(unknown ? { effect: 'unknown' as const } : {}),
    });
  },
});

/** A read needs no intent on disk, which makes it quick enough to fail with every code. */
const failRead = { ...fail, name: 'reply_fail_read', title: 'Fail to read', effect: 'read' as const };

/** Under names of their own, because policy tells them apart by name. */
const asked = { ...succeed, name: 'reply_asked', title: 'Ask' };
const previewed = { ...succeed, name: 'reply_previewed', title: 'Preview' };
const denied = { ...succeed, name: 'reply_denied', title: 'Deny' };

const decide = define({
  ...base,
  name: 'reply_decide',
  title: 'Decide',
  summary: 'Decides.',
  effect: 'decide',
  decides: ({ id }) => ({ ids: [id] }),
  input: z.object({ id: z.int() }),
  output: z.object({}),
  run: async () => ({}),
});

const CONFIG = [
  '[mcp_policy]',
  'require_approval_for = ["reply_asked"]',
  'blocked_tools = ["reply_denied"]',
  'max_mutations_per_hour = 100000',
  '[[mcp_policy.rules]]',
  'id = "preview"',
  'tools = ["reply_previewed"]',
  'action = "dry_run"',
  '',
].join('\n');

/** The HTTP server with one toolkit of that dialect, whose tools end in every way a call can end. */
export async function serveReplies(name: DialectName) {
  const dialect = DIALECTS[name];
  const home = mkdtempSync(join(tmpdir(), 'countersign-replies-'));
  writeFileSync(join(home, 'config.toml'), CONFIG, { mode: 0o600 });
  const tools = [succeed, fail, failRead, asked, previewed, denied, decide];
  const toolkit = defineToolkit<object>({
    id: 'reply',
    title: 'Replies',
    dialect,
    tools,
    connect: async () => ({}),
  }) as unknown as Toolkit;
  const app = await openApp({
    // The question of a dialog is pinned too, though its call has no undo.
    env: { COUNTERSIGN_HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent', COUNTERSIGN_APPROVALS__DIALOGS: 'all' },
    extraToolkits: [{ id: 'reply', load: async () => toolkit }],
  });
  const served = await createServed(app, { toolkits: ['reply'], profile: 'write', discovery: false });
  const { port, close } = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${port}`,
    /** What a client would be given that cannot put the question; today every path puts it or refuses. */
    unaskedQuestion: () =>
      toMcpResult(
        {
          tool: decide as unknown as Toolkit['tools'][number],
          dialect,
          callId: 'call',
          outcome: { status: 'needs_person', question: 'Decide?', about: 'it' },
          evidenceHash: undefined,
          elapsedMs: 1,
          runId: undefined,
          args: { id: 1 },
          dryRun: false,
        },
        served.modes(),
      ),
    async close() {
      await close();
      await app.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
