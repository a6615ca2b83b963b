import { parentPort } from 'node:worker_threads';

/** What travels between the main thread and this worker. */
export interface DocumentRequest {
  readonly kind: 'pdf' | 'docx';
  readonly bytes: Uint8Array;
}

export type DocumentReply = { readonly texts: readonly string[] } | { readonly error: string };

/** The text of each page. */
async function pdf(bytes: Uint8Array): Promise<readonly string[]> {
  const { getDocumentProxy, extractText } = await import('unpdf');
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  return (await extractText(document, { mergePages: false })).text;
}

async function docx(bytes: Uint8Array): Promise<readonly string[]> {
  const { default: mammoth } = await import('mammoth');
  return [(await mammoth.extractRawText({ buffer: Buffer.from(bytes) })).value];
}

parentPort?.on('message', ({ kind, bytes }: DocumentRequest) => {
  const tell = (reply: DocumentReply) => parentPort?.postMessage(reply);
  (kind === 'pdf' ? pdf(bytes) : docx(bytes)).then(
    (texts) => tell({ texts }),
    (error: unknown) => tell({ error: error instanceof Error ? error.message : String(error) }),
  );
});
