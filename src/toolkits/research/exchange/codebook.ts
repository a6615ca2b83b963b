import { ToolError } from '../../../contract/errors.ts';
import type { ChangeBy, ProjectReader, ProjectStore } from '../project/types.ts';
import { guidMaker, memoWriter, ORIGIN } from './refi/conventions.ts';
import { codesOf } from './refi/from-project.ts';
import { importCodes } from './refi/import-codes.ts';
import { codesIn } from './refi/read-project.ts';
import { writeRefiCode } from './refi/write-project.ts';
import { decodeText, type ExchangeNote, ExchangeReport } from './report.ts';
import { childOf, childrenOf, element, list, parseXml } from './xml.ts';

const NAMESPACE = 'urn:QDA-XML:codebook:1.0';

/** The codes of a project as a REFI-QDA codebook (.qdc). */
export function exportCodebook(
  project: ProjectReader,
  options: { readonly privateMemos?: boolean } = {},
): { readonly xml: string; readonly notes: readonly ExchangeNote[] } {
  if (project.codes().length + project.categories().length === 0)
    throw new ToolError(
      'validation_error',
      'The project has no codes yet, and a codebook without codes is not valid.',
    );
  const report = new ExchangeReport();
  const info = project.info();
  const memo = memoWriter(report, options.privateMemos ?? false);
  const codes = codesOf(project, guidMaker(`${info.name}\n${info.date}`), memo);
  const root = element('CodeBook', { xmlns: NAMESPACE, origin: ORIGIN }, [
    list('Codes', codes.map(writeRefiCode)),
  ]);
  return { xml: `<?xml version="1.0" encoding="utf-8"?>\n${root}\n`, notes: report.notes() };
}

/** Adds the codes of a .qdc file. */
export async function importCodebook(
  store: ProjectStore,
  by: ChangeBy,
  bytes: Uint8Array,
): Promise<{ readonly codes: number; readonly notes: readonly ExchangeNote[] }> {
  const report = new ExchangeReport();
  const { text, encoding, bom } = decodeText(bytes);
  if (encoding !== 'utf-8') report.repaired(`Read the codebook as ${encoding.toUpperCase()}`);
  if (bom) report.repaired('Removed a byte order mark');
  const root = await parseXml(text.replace(/^\ufeff/, ''), 'The codebook');
  // A project file holds a codebook too; a person who unpacks one means its codes.
  const book = root.name === 'Project' ? childOf(root, 'CodeBook') : root;
  if (book?.name !== 'CodeBook')
    throw new ToolError(
      'validation_error',
      `This is not a REFI-QDA codebook: its root element is ${root.name}.`,
    );
  // The parser drops namespaces, so that files with a wrong one can be read at all.
  const namespace = namespaceOf(text);
  if (namespace && namespace !== NAMESPACE)
    report.repaired('Accepted a namespace that is not the standard one', namespace);
  const codes = codesIn(book);
  if (codes.length === 0) throw new ToolError('validation_error', 'The codebook contains no codes.');
  for (const { attributes } of childrenOf(childOf(book, 'Sets'), 'Set'))
    report.lost('Omitted a set of codes', attributes.name);
  const { added } = await store.write(by, (project) =>
    importCodes(codes, { project, report, notes: () => '' }),
  );
  return { codes: added, notes: report.notes() };
}

function namespaceOf(text: string): string | undefined {
  const [, prefix, attributes = ''] = /<(?:([\w.-]+):)?CodeBook\b([^>]*)>/.exec(text) ?? [];
  const name = prefix ? `xmlns:${prefix}` : 'xmlns';
  return new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)`).exec(attributes)?.[1];
}
