import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadToolkit, toolkitIndex, toolkitNames } from './toolkits.ts';

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const toolkits = await Promise.all(toolkitNames().map(loadToolkit));
write('src/toolkits/index.generated.ts', toolkitIndex(toolkits));
