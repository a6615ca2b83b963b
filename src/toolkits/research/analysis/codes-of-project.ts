import { publicMemo } from '../lib/memo.ts';
import type { ProjectReader } from '../project/types.ts';
import type { CodeWithExamples, Example } from './evidence.ts';

/** The codes with their public memos and their codings: nothing private gets into a rationale. */
export function codesOfProject(
  project: Pick<ProjectReader, 'codes' | 'codings' | 'sources'>,
): CodeWithExamples[] {
  const names = new Map(project.sources().map(({ id, name }) => [id, name]));
  const examples = new Map<number, Example[]>();
  for (const { id, codeId, sourceId, start, end, text } of project.codings()) {
    if (text.trim() === '') continue;
    const list = examples.get(codeId) ?? [];
    list.push({ codingId: id, sourceId, sourceName: names.get(sourceId) ?? '', start, end, text });
    examples.set(codeId, list);
  }
  return project
    .codes()
    .map(({ id, name, memo }) => ({ id, name, memo: publicMemo(memo), examples: examples.get(id) ?? [] }));
}
