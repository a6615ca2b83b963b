import { existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { homePath } from '../../lib/home-path.ts';
import { VERSION } from '../../lib/version.ts';
import type { AuditTrail } from '../../toolkits/research/audit/trail.ts';
import { look } from '../act.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { complain, print, printJson } from '../output.ts';
import { plainText } from '../plain-text.ts';
import { runningServer } from '../running-server.ts';

/** Who did what in the project, worded for a methods section. */
export function auditTrail(
  global: GlobalOptions,
  file: string | undefined,
  options: { force?: boolean },
): Promise<void> {
  return withApp(global, async (app) => {
    await app.kernel.flush();
    const trail = await look<AuditTrail>(app, 'research', 'audit_trail');
    const { renderAuditTrail } = await import('../../toolkits/research/audit/report.ts');
    const text = global.json
      ? `${JSON.stringify(trail, null, 2)}\n`
      : renderAuditTrail(trail, `Countersign ${VERSION}`);
    if (file === undefined) return print(plainText(text).trimEnd());
    const path = homePath(file);
    if (existsSync(path) && !options.force)
      throw new CliError(`${path} is there already; --force replaces it, or name another file.`);
    await writeFile(path, text);
    complain(`Wrote ${path}`);
  });
}

/** The entry by which an agent's client finds the server; other entries stay. */
export async function mcpJson(global: GlobalOptions, place: string | undefined): Promise<void> {
  const path = homePath(place ?? '.');
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  if (!isFolder && basename(path) !== '.mcp.json')
    throw new CliError(`${path} is neither a folder nor a file named .mcp.json.`, 2);
  await withApp(global, async (app) => {
    const { port: configured, public_url: publicUrl } = app.config.server;
    const running = await runningServer(app);
    const port = running ? new URL(running).port : configured;
    const url = publicUrl ? `${publicUrl.replace(/\/$/, '')}/mcp` : `http://localhost:${port}/mcp`;
    const { writeMcpJson } = await import('../../toolkits/research/lib/mcp-json.ts');
    const written = writeMcpJson(isFolder ? path : dirname(path), url);
    if (global.json) return printJson({ ...written, url });
    print(written.changed ? `Wrote ${written.path}.` : `${written.path} has the entry already.`);
    print(`Clients that read it connect to ${url} while \`countersign up\` runs.`);
  });
}
