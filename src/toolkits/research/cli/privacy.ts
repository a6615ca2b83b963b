import { type ActOptions, CliError, type CommandApp, type CommandHost } from '../../../contract/command.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { oneLine, plainText } from '../../../terminal/text.ts';
import { setPseudonym as setPseudonymTool, setSourceAccess } from '../tools/projects.ts';
import { views } from '../views.ts';

export function listOffLimits(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const { off_limits } = await app.view(views, 'privacy');
    if (host.options.json) return printJson(off_limits);
    if (off_limits.length === 0)
      return print('Agents can read every source. To hide one: countersign research off-limits add SOURCE');
    for (const { id, name } of off_limits) print(`${String(id).padStart(4)}  ${oneLine(name)}`);
  });
}

/** Closes a source to agents, or opens it again; from the next call on. */
export function setOffLimits(
  host: CommandHost,
  source: string,
  closed: boolean,
  options: ActOptions,
): Promise<void> {
  return host.open(async (app) => {
    const { id, name } = await sourceOf(app, source);
    const acted = await app.act(setSourceAccess, { source_id: id, off_limits: closed }, options);
    app.printOutcome(acted, () =>
      closed ? `Agents can no longer read ${name}.` : `Agents can read ${name} again.`,
    );
  });
}

export function listPseudonyms(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const { pseudonyms } = await app.view(views, 'privacy');
    if (host.options.json) return printJson(pseudonyms);
    if (pseudonyms.length === 0)
      return print('No pseudonyms. To add one: countersign research pseudonyms set NAME PSEUDONYM');
    print(
      table(
        ['NAME', 'AGENTS READ'],
        pseudonyms.map(({ original, pseudonym }) => [plainText(original), plainText(pseudonym)]),
      ),
    );
  });
}

export function setPseudonym(
  host: CommandHost,
  original: string,
  pseudonym: string,
  options: ActOptions & { variant?: string[]; exact?: boolean },
): Promise<void> {
  return host.open(async (app) => {
    if (pseudonym.trim() === '')
      throw new CliError(
        'The pseudonym is empty. To remove one: countersign research pseudonyms remove NAME',
        2,
      );
    const { variant: variants, exact } = options;
    const args = { original, pseudonym, ...(variants ? { variants } : {}), ...(exact ? { exact } : {}) };
    const acted = await app.act(setPseudonymTool, args, options);
    app.printOutcome(acted, ({ warnings }) =>
      [
        `Agents now read “${pseudonym}” instead of “${original}”.`,
        ...warnings.map((warning) => `Warning: ${warning}`),
      ].join('\n'),
    );
  });
}

export function removePseudonym(host: CommandHost, original: string, options: ActOptions): Promise<void> {
  return host.open(async (app) => {
    const { pseudonyms } = await app.view(views, 'privacy');
    if (!pseudonyms.some((one) => one.original === original))
      throw new CliError(`“${original}” has no pseudonym.`);
    const acted = await app.act(setPseudonymTool, { original, pseudonym: '' }, options);
    app.printOutcome(acted, () => `Removed the pseudonym of “${original}”. Agents now read the name.`);
  });
}

/** A source by number or by its exact name. */
async function sourceOf(app: CommandApp, text: string): Promise<{ id: number; name: string }> {
  const sources = await app.view(views, 'sources');
  const found =
    sources.find(({ name }) => name === text) ??
    (/^\d+$/.test(text) ? sources.find(({ id }) => id === Number(text)) : undefined);
  if (!found)
    throw new CliError(`Unknown source "${text}". Run \`countersign research sources\` to list sources.`);
  return found;
}
