import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'smol-toml';
import type { LoadOptions } from './load.ts';
import { ConfigError, valueAt } from './path.ts';

export interface StorePlace {
  /** A file path or a postgres:// address. */
  readonly storageUrl: string;
  readonly dataDir: string;
}

const URL_PATH = ['storage', 'url'] as const;

/**
 * Where database and data directory are, with nothing else of the configuration evaluated: who verifies a log after an
 * accident must not need a valid file. It fails only where guessing could mean another database.
 */
export function findStore({ path, env }: Pick<LoadOptions, 'path' | 'env'>): StorePlace {
  const dataDir = dataDirOf(env);
  const file = path === undefined ? join(dataDir, 'config.toml') : resolve(path);
  const url = env.COUNTERSIGN_STORAGE__URL || urlInFile(file, path !== undefined);
  return { storageUrl: storageUrlOf(url, dataDir), dataDir };
}

export const dataDirOf = (env: LoadOptions['env']): string =>
  resolve(env.COUNTERSIGN_HOME || join(homedir(), '.countersign'));

export const storageUrlOf = (url: string | undefined, dataDir: string): string =>
  url === undefined ? join(dataDir, 'countersign.db') : url.replace(/^~(?=[/\\])/, homedir());

function urlInFile(file: string, mustExist: boolean): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !mustExist) return undefined;
    throw unclear(file, 'the file cannot be read');
  }
  const whole = tryParse(text);
  const url = whole === undefined ? urlInParts(text) : valueAt(whole, URL_PATH);
  if (typeof url === 'string' && url !== '') return url;
  if (url !== undefined || (whole === undefined && /^\s*\[?\s*["']?storage\b/m.test(text)))
    throw unclear(file, 'storage.url there cannot be read');
  return undefined;
}

/** Of a file that is not TOML as a whole: the part under each heading alone, then each line alone. */
function urlInParts(text: string): unknown {
  for (const part of text.split(/^(?=\s*\[)/m)) {
    const url = valueAt(tryParse(part), URL_PATH);
    if (url !== undefined) return url;
    const [head = '', ...lines] = part.split('\n');
    for (const line of [head, ...lines]) {
      const heading = head.trim().startsWith('[') && line !== head ? head : '';
      const found = valueAt(tryParse(`${heading}\n${line}`), URL_PATH);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function tryParse(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

const unclear = (file: string, why: string): ConfigError =>
  new ConfigError([
    {
      source: file,
      path: '',
      message: `${why}, so it is not known which database is meant; set COUNTERSIGN_STORAGE__URL, or name another file with -c`,
    },
  ]);
