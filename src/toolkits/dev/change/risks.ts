import { matchesGlob } from '../git/glob.ts';
import type { FileEdit } from './plan.ts';

/** Files that make other people's machines run something, or decide who may. */
const WATCHED: readonly (readonly [pattern: string, why: string])[] = [
  ['package.json', 'can run scripts when packages are installed'],
  ['Makefile', 'is run by build tools'],
  ['Dockerfile', 'is run by build tools'],
  ['*.sh', 'is a shell script'],
  ['setup.py', 'runs when the package is installed'],
  ['build.rs', 'runs at build time'],
  ['*-lock.*', 'pins dependencies'],
  ['*.lock', 'pins dependencies'],
  ['go.sum', 'pins dependencies'],
  ['.husky/', 'runs on the machines of those who commit'],
  ['.pre-commit-config.yaml', 'runs on the machines of those who commit'],
  ['.gitattributes', 'decides which programs git runs on files'],
  ['.lfsconfig', 'decides where Git LFS sends and fetches files'],
  ['.devcontainer/', 'runs when an editor opens the project'],
  ['.vscode/', 'can run programs when an editor opens the project'],
  ['AGENTS.md', 'is read by agents as instructions'],
  ['CLAUDE.md', 'is read by agents as instructions'],
];

/** What the person who decides should look at twice. */
export function changeRisks(files: readonly FileEdit[]): string[] {
  const notes: string[] = [];
  for (const { path, original_content, modified_content } of files) {
    const found = WATCHED.find(([pattern]) => matchesGlob(path, pattern));
    if (found) notes.push(`${path} ${found[1]}.`);
    if (original_content && modified_content === '') notes.push(`${path} is emptied.`);
    if (original_content === undefined)
      notes.push(`${path} replaces whatever the base holds: no original_content was given.`);
  }
  return notes;
}
