import { parentPort } from 'node:worker_threads';
import { ToolError } from '../../../../contract/errors.ts';
import { readQde } from '../refi/read-project.ts';

/** What can be read here, and as what it comes back. */
const READERS = { pdf, docx, heights, qde: readQde };

export type DocumentKind = keyof typeof READERS;
export type DocumentContent<K extends DocumentKind> = Awaited<ReturnType<(typeof READERS)[K]>>;

/** What travels between the main thread and this worker. */
export interface DocumentRequest {
  readonly kind: DocumentKind;
  readonly bytes: Uint8Array;
  /** For messages. */
  readonly name: string;
}

export type DocumentReply =
  | { readonly content: unknown }
  | { readonly error: string }
  /** What we ourselves refuse, in words for the person. */
  | { readonly refused: string };

/** The text of each page. */
async function pdf(bytes: Uint8Array): Promise<readonly string[]> {
  const { getDocumentProxy, extractText } = await import('unpdf');
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  return (await extractText(document, { mergePages: false })).text;
}

async function docx(bytes: Uint8Array): Promise<string> {
  const { default: mammoth } = await import('mammoth');
  return (await mammoth.extractRawText({ buffer: Buffer.from(bytes) })).value;
}

/** Heights of the pages of a PDF in points. */
async function heights(bytes: Uint8Array): Promise<readonly number[]> {
  const { getDocumentProxy } = await import('unpdf');
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const found: number[] = [];
  for (let page = 1; page <= document.numPages; page += 1)
    found.push((await document.getPage(page)).getViewport({ scale: 1 }).height);
  return found;
}

parentPort?.on('message', ({ kind, bytes, name }: DocumentRequest) => {
  const tell = (reply: DocumentReply) => parentPort?.postMessage(reply);
  READERS[kind](bytes, name).then(
    (content) => tell({ content }),
    (error: unknown) => {
      if (error instanceof ToolError) tell({ refused: error.message });
      else tell({ error: error instanceof Error ? error.message : String(error) });
    },
  );
});
