import { existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { CliError, type CommandHost } from '../../../contract/command.ts';
import { homePath } from '../../../lib/file-error.ts';
import { VERSION } from '../../../lib/log.ts';
import { print, printJson, printStderr } from '../../../terminal/output.ts';
import { plainText } from '../../../terminal/text.ts';
import { views } from '../views.ts';

/** Who did what in the project, worded for a methods section. */
export function auditTrail(
  host: CommandHost,
  file: string | undefined,
  options: { force?: boolean },
): Promise<void> {
  return host.open(async (app) => {
    await app.flush();
    const trail = await app.view(views, 'audit_trail');
    const { renderAuditTrail } = await import('../audit/report.ts');
    const { json } = host.options;
    const text = json
      ? `${JSON.stringify(trail, null, 2)}\n`
      : renderAuditTrail(trail, `Countersign ${VERSION}`);
    if (file === undefined) return json ? printJson(trail) : print(plainText(text).trimEnd());
    const path = homePath(file);
    if (existsSync(path) && !options.force)
      throw new CliError(`${path} already exists. Choose another file, or use --force to overwrite it.`);
    await writeFile(path, text);
    if (json) printJson({ path });
    else printStderr(`Wrote ${path}`);
  });
}

/** The entry by which an agent's client finds the server; other entries stay. */
export async function mcpJson(host: CommandHost, place: string | undefined): Promise<void> {
  const path = homePath(place ?? '.');
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  if (!isFolder && basename(path) !== '.mcp.json')
    throw new CliError(`${path} is neither a directory nor a file named .mcp.json.`, 2);
  await host.open(async (app) => {
    const url = `${await app.serverUrl()}/mcp`;
    const { writeMcpJson } = await import('./mcp-json.ts');
    const written = writeMcpJson(isFolder ? path : dirname(path), url);
    if (host.options.json) return printJson({ ...written, url });
    print(written.changed ? `Wrote ${written.path}.` : `${written.path} already contains the entry.`);
    print(`Clients that read it connect to ${url} while \`countersign up\` is running.`);
  });
}
