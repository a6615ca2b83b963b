import { ToolFault } from '../../../../contract/faults.ts';
import { type DecodedText, decodeText } from '../decode-text.ts';
import { parseXml } from '../xml.ts';
import type { RefiProject } from './model.ts';
import { readRefiProject } from './read-project.ts';

interface ReadQde {
  readonly refi: RefiProject;
  readonly encoding: DecodedText['encoding'];
  readonly bom: boolean;
}

/** What a project.qde says. Seconds of work without a pause for a large one, so it is done in the documents' thread. */
export async function readQde(bytes: Uint8Array, name: string): Promise<ReadQde> {
  const { text, encoding } = decodeText(bytes);
  const bom = text.startsWith('\ufeff');
  const root = await parseXml(bom ? text.slice(1) : text, name);
  if (root.name !== 'Project')
    throw new ToolFault(
      'validation_error',
      `${name} is not a REFI-QDA project: its root element is ${root.name}.`,
    );
  return { refi: readRefiProject(root), encoding, bom };
}
