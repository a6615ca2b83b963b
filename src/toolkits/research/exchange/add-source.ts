import { ToolFault } from '../../../contract/faults.ts';
import type { NewSource, ProjectWriter } from '../project/types.ts';
import { freeName, safeFileName } from './names.ts';

const TRIES = 50;

/**
 * Adds a source whose original goes into a folder of the project under a name that is free there. A file that lies there without
 * belonging to a source (left by a crash, or put there by hand) is never overwritten.
 */
export function addSourceWithFile(
  project: ProjectWriter,
  source: NewSource,
  folder: 'docs' | 'images' | 'audio' | 'video',
  wanted: string,
): number {
  const used = new Set(project.sources().map(({ mediaPath }) => mediaPath?.toLowerCase()));
  const tried = new Set<string>();
  for (;;) {
    const name = freeName(
      safeFileName(wanted),
      (other) => tried.has(other) || used.has(`/${folder}/${other}`.toLowerCase()),
    );
    try {
      return project.addSource({ ...source, mediaPath: `/${folder}/${name}` });
    } catch (error) {
      const isTaken = error instanceof ToolFault && error.code === 'conflict' && source.file !== undefined;
      tried.add(name);
      if (!isTaken || tried.size > TRIES) throw error;
    }
  }
}
