import { homePath } from '../../lib/home-path.ts';
import { type ActOptions, act, look, tellAct } from '../act.ts';
import { type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';
import { oneLine, paragraph, plainText } from '../plain-text.ts';
import { counted } from '../text.ts';

interface Opened {
  readonly project_name: string;
  readonly project_path: string;
  readonly format_version: string;
}

export function createProject(
  global: GlobalOptions,
  path: string,
  options: ActOptions & { memo?: string; coder?: string },
): Promise<void> {
  return withApp(global, async (app) => {
    const { memo, coder } = options;
    const args = { path: homePath(path), ...(memo ? { memo } : {}), ...(coder ? { coder } : {}) };
    tellAct<Opened>(
      global,
      await act(app, 'create_project', args, options),
      (made) =>
        `Created and opened ${made.project_path} (format ${made.format_version}). QualCoder opens it too.\nNext: countersign research import FILES…`,
    );
  });
}

export function openProject(global: GlobalOptions, path: string, options: ActOptions): Promise<void> {
  return withApp(global, async (app) => {
    tellAct<Opened>(
      global,
      await act(app, 'open_project', { path: homePath(path) }, options),
      (opened) =>
        `Opened ${opened.project_name} (format ${opened.format_version}). Agents on this store work on it from now on.`,
    );
  });
}

export function closeProject(global: GlobalOptions, options: ActOptions): Promise<void> {
  return withApp(global, async (app) => {
    tellAct(
      global,
      await act(app, 'close_project', {}, options),
      () => 'Closed. Agents have no project now.',
    );
  });
}

interface Status {
  readonly project_open: boolean;
  readonly project_name: string;
  readonly project_path: string;
  readonly format_version: string;
  readonly memo: string;
  readonly coder: string;
  readonly ai: string;
  readonly source_count: number;
  readonly code_count: number;
  readonly category_count: number;
  readonly case_count: number;
  readonly coding_count: number;
  readonly coders: readonly { readonly name: string; readonly count: number; readonly kind: string }[];
  readonly pending_count: number;
  readonly off_limits_count: number;
  readonly pseudonym_count: number;
  readonly open_in_qualcoder_by: string | null;
  readonly recent: readonly { readonly path: string; readonly last_opened: string }[];
}

export function projectStatus(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const shown = await look<Status>(app, 'research', 'project');
    if (global.json) return printJson(shown);
    if (!shown.project_open) {
      print('No project is open. `countersign research open PATH` opens one, `create PATH` makes a new one.');
      if (shown.recent.length > 0)
        print(`\nOpened before:\n${shown.recent.map(({ path }) => `  ${path}`).join('\n')}`);
      return;
    }
    const row = (name: string, value: string): void => print(`${name.padEnd(12)} ${plainText(value)}`);
    row('Project', `${shown.project_name} (format ${shown.format_version})`);
    row('Folder', shown.project_path);
    if (shown.open_in_qualcoder_by)
      row('In use', `by ${shown.open_in_qualcoder_by} in QualCoder; changes wait until it is closed there`);
    row('You code as', shown.coder);
    row('Sources', `${shown.source_count}, ${shown.off_limits_count} closed to agents`);
    row('Codes', `${shown.code_count} in ${shown.category_count} categories`);
    row('Cases', String(shown.case_count));
    row('Codings', String(shown.coding_count));
    for (const { name, count, kind } of shown.coders)
      row('', `${count} by ${name}${kind === 'agent' ? ' (agent)' : ''}`);
    row('Pseudonyms', String(shown.pseudonym_count));
    row('Analysis', AI[shown.ai] ?? shown.ai);
    row('Waiting', shown.pending_count === 0 ? 'no suggestions' : counted(shown.pending_count, 'suggestion'));
    if (shown.memo) print(`\n${paragraph(shown.memo)}`);
    if (shown.pending_count > 0) print('\nDecide: countersign approvals list --toolkit research');
  });
}

const AI: Readonly<Record<string, string>> = {
  off: 'off ([research] ai)',
  local: 'on this machine only',
  llm: 'on this machine, refined by the configured model',
};

interface Source {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly owner: string;
  readonly bytes: number;
  readonly code_count: number;
  readonly off_limits: boolean;
}

export function listSources(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const sources = await look<Source[]>(app, 'research', 'sources');
    if (global.json) return printJson(sources);
    if (sources.length === 0) return print('No sources yet: countersign research import FILES…');
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

interface Code {
  readonly id: number;
  readonly name: string;
  readonly memo?: string;
  readonly segment_count: number;
  readonly children: readonly Code[];
}
interface Category {
  readonly id: number;
  readonly name: string;
  readonly memo: string;
  readonly categories: readonly Category[];
  readonly codes: readonly Code[];
}

/** The code tree with how often each code is used. */
export function codebook(global: GlobalOptions, options: { memos?: boolean }): Promise<void> {
  return withApp(global, async (app) => {
    const tree = await look<Pick<Category, 'categories' | 'codes'>>(app, 'research', 'codes');
    if (global.json) return printJson(tree);
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
