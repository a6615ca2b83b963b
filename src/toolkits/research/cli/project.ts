import type { ActOptions, CommandHost } from '../../../contract/command.ts';
import type { ViewData } from '../../../contract/view.ts';
import { homePath } from '../../../lib/file-error.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { counted, oneLine, paragraph, plainText } from '../../../terminal/text.ts';
import * as tools from '../tools/projects.ts';
import { views } from '../views.ts';

export function createProject(
  host: CommandHost,
  path: string,
  options: ActOptions & { memo?: string; coder?: string },
): Promise<void> {
  return host.open(async (app) => {
    const { memo, coder } = options;
    const args = { path: homePath(path), ...(memo ? { memo } : {}), ...(coder ? { coder } : {}) };
    app.printOutcome(
      await app.act(tools.createProject, args, options),
      (made) =>
        `Created and opened ${made.project_path} (format ${made.format_version}). QualCoder can open it too.\nNext: countersign research import FILES…`,
    );
  });
}

export function openProject(host: CommandHost, path: string, options: ActOptions): Promise<void> {
  return host.open(async (app) => {
    app.printOutcome(
      await app.act(tools.openProject, { path: homePath(path) }, options),
      (opened) =>
        `Opened ${opened.project_name} (format ${opened.format_version}). Agents that share this database now work on it.`,
    );
  });
}

export function closeProject(host: CommandHost, options: ActOptions): Promise<void> {
  return host.open(async (app) => {
    app.printOutcome(
      await app.act(tools.closeProject, {}, options),
      () => 'Closed the project. Agents have no open project now.',
    );
  });
}

export function projectStatus(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const shown = await app.view(views, 'project');
    if (host.options.json) return printJson(shown);
    if (!shown.project_open) {
      print(
        'No project is open. Open one with `countersign research open PATH`, or create one with `countersign research create PATH`.',
      );
      if (shown.recent.length > 0)
        print(`\nRecent projects:\n${shown.recent.map(({ path }) => `  ${path}`).join('\n')}`);
      return;
    }
    const row = (name: string, value: string): void => print(`${name.padEnd(12)} ${plainText(value)}`);
    row('Project', `${shown.project_name} (format ${shown.format_version})`);
    row('Directory', shown.project_path);
    if (shown.open_in_qualcoder_by)
      row(
        'In use',
        `by ${shown.open_in_qualcoder_by} in QualCoder; no change can run until it is closed there`,
      );
    row('You code as', shown.coder);
    row('Sources', `${shown.source_count}, ${shown.off_limits_count} off limits to agents`);
    row('Codes', `${shown.code_count} in ${counted(shown.category_count, 'category', 'categories')}`);
    row('Cases', String(shown.case_count));
    row('Codings', String(shown.coding_count));
    for (const { name, count, kind } of shown.coders)
      row('', `${count} by ${name}${kind === 'agent' ? ' (agent)' : ''}`);
    row('Pseudonyms', String(shown.pseudonym_count));
    row('Analysis', AI[shown.ai] ?? shown.ai);
    row('Pending', shown.pending_count === 0 ? 'no suggestions' : counted(shown.pending_count, 'suggestion'));
    if (shown.memo) print(`\n${paragraph(shown.memo)}`);
    if (shown.pending_count > 0) print('\nDecide: countersign approvals list --toolkit research');
  });
}

const AI: Readonly<Record<string, string>> = {
  off: 'off (`research.ai`)',
  local: 'on this machine only',
  llm: 'on this machine, refined by the configured model',
};

export function listSources(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const sources = await app.view(views, 'sources');
    if (host.options.json) return printJson(sources);
    if (sources.length === 0) return print('No sources yet. To add some: countersign research import FILES…');
    print(
      table(
        ['ID', 'NAME', 'TYPE', 'CODINGS', 'ADDED BY', 'AGENTS'],
        sources.map((one) => [
          String(one.id),
          oneLine(one.name, 60),
          one.type,
          String(one.code_count),
          plainText(one.owner),
          one.off_limits ? 'off limits' : '',
        ]),
      ),
    );
  });
}

type Code = ViewData<typeof views.codes>['codes'][number];
type Category = ViewData<typeof views.codes>['categories'][number];

/** The code tree with how often each code is used. */
export function codebook(host: CommandHost, options: { memos?: boolean }): Promise<void> {
  return host.open(async (app) => {
    const tree = await app.view(views, 'codes');
    if (host.options.json) return printJson(tree);
    const memo = (text: string | undefined, margin: string): void => {
      if (options.memos && text) print(paragraph(text, `${margin}    `));
    };
    const showCode = (code: Code, margin: string): void => {
      print(`${margin}${oneLine(code.name, 80)}  ${code.segment_count}  [${code.id}]`);
      memo(code.memo, margin);
      for (const child of code.children) showCode(child, `${margin}  `);
    };
    const showCategory = (category: Category, margin: string): void => {
      print(`${margin}${oneLine(category.name, 80)}/`);
      memo(category.memo, margin);
      for (const inner of category.categories) showCategory(inner, `${margin}  `);
      for (const code of category.codes) showCode(code, `${margin}  `);
    };
    if (tree.categories.length + tree.codes.length === 0) return print('The project has no codes yet.');
    for (const category of tree.categories) showCategory(category, '');
    for (const code of tree.codes) showCode(code, '');
  });
}
