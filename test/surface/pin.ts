import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';

const DIRECTORY = join('test', 'pins');
const UPDATING = process.env.UPDATE_PINS === '1';
const REGENERATE = 'If the change is meant, run `npm run pins` and commit the result.';

/** Compares with the committed file; with UPDATE_PINS=1 writes it instead. Text stays text, all else becomes JSON. */
export function expectPin(name: string, value: unknown): void {
  const path = join(DIRECTORY, name);
  const text = typeof value === 'string' ? value : `${JSON.stringify(value, null, 1)}\n`;
  if (UPDATING) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  if (!existsSync(path)) throw new Error(`${path} does not exist. ${REGENERATE}`);
  const pinned = readFileSync(path, 'utf8');
  // Compared as data first: the report then names the field and not a place in a long text.
  if (typeof value !== 'string')
    expect(JSON.parse(text), `${path} differs. ${REGENERATE}`).toEqual(JSON.parse(pinned));
  expect(text, `${path} differs. ${REGENERATE}`).toBe(pinned);
}

/** Fails when a directory of pins has a file that no test compares any more; with UPDATE_PINS=1 removes it. */
export function expectOnlyPins(directory: string, names: readonly string[]): void {
  const path = join(DIRECTORY, directory);
  const stale = readdirSync(path).filter((name) => !names.includes(name));
  if (UPDATING) for (const name of stale) rmSync(join(path, name));
  else expect(stale, `${path} has files that nothing produces. ${REGENERATE}`).toEqual([]);
}
