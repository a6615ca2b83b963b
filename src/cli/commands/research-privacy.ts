import type { App } from '../../app.ts';
import { type ActOptions, act, look, tellAct } from '../act.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';
import { oneLine, plainText } from '../plain-text.ts';

interface Privacy {
  readonly off_limits: readonly { readonly id: number; readonly name: string }[];
  readonly pseudonyms: readonly { readonly original: string; readonly pseudonym: string }[];
}

export function listOffLimits(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { off_limits } = await look<Privacy>(app, 'research', 'privacy');
    if (global.json) return printJson(off_limits);
    if (off_limits.length === 0)
      return print('Agents may read every source. `countersign research off-limits add SOURCE` closes one.');
    for (const { id, name } of off_limits) print(`${String(id).padStart(4)}  ${oneLine(name)}`);
  });
}

/** Closes a source to agents, or opens it again; from the next call on. */
export function setOffLimits(
  global: GlobalOptions,
  source: string,
  closed: boolean,
  options: ActOptions,
): Promise<void> {
  return withApp(global, async (app) => {
    const { id, name } = await sourceOf(app, source);
    const acted = await act(app, 'set_source_access', { source_id: id, off_limits: closed }, options);
    tellAct(global, acted, () =>
      closed ? `Agents can no longer read ${name}.` : `Agents may read ${name} again.`,
    );
  });
}

export function listPseudonyms(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { pseudonyms } = await look<Privacy>(app, 'research', 'privacy');
    if (global.json) return printJson(pseudonyms);
    if (pseudonyms.length === 0)
      return print('No pseudonyms. `countersign research pseudonyms set NAME PSEUDONYM` adds one.');
    print(
      table(
        ['NAME', 'AGENTS READ'],
        pseudonyms.map(({ original, pseudonym }) => [plainText(original), plainText(pseudonym)]),
      ),
    );
  });
}

export function setPseudonym(
  global: GlobalOptions,
  original: string,
  pseudonym: string,
  options: ActOptions,
): Promise<void> {
  return withApp(global, async (app) => {
    if (pseudonym.trim() === '')
      throw new CliError(
        'The pseudonym is empty; `countersign research pseudonyms remove NAME` takes one off.',
        2,
      );
    const acted = await act(app, 'set_pseudonym', { original, pseudonym }, options);
    tellAct(global, acted, () => `Agents read “${pseudonym}” instead of “${original}” from now on.`);
  });
}

export function removePseudonym(global: GlobalOptions, original: string, options: ActOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { pseudonyms } = await look<Privacy>(app, 'research', 'privacy');
    if (!pseudonyms.some((one) => one.original === original))
      throw new CliError(`There is no pseudonym for “${original}”.`);
    const acted = await act(app, 'set_pseudonym', { original, pseudonym: '' }, options);
    tellAct(global, acted, () => `Agents read “${original}” as it is from now on.`);
  });
}

/** A source by number or by its exact name. */
async function sourceOf(app: App, text: string): Promise<{ id: number; name: string }> {
  const sources = await look<{ id: number; name: string }[]>(app, 'research', 'sources');
  const found =
    sources.find(({ name }) => name === text) ??
    (/^\d+$/.test(text) ? sources.find(({ id }) => id === Number(text)) : undefined);
  if (!found)
    throw new CliError(`There is no source "${text}"; \`countersign research sources\` lists them.`);
  return found;
}
