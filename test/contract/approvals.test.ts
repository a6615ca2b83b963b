import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const sources = (readdirSync('src', { recursive: true }) as string[])
  .map((path) => path.replaceAll('\\', '/'))
  .filter(
    (path) => /\.tsx?$/.test(path) && !/\.(test|fixture)\.tsx?$/.test(path) && !path.includes('/test/'),
  );
const textOf = (path: string): string => readFileSync(join('src', path), 'utf8');

/** Everything from the start of an update of the table to the end of its statement. */
const updates = (text: string): string[] => [
  ...(text.match(/updateTable\(\s*['"`]approvals['"`][\s\S]*?;/g) ?? []),
  ...(text.match(/update\s+"?approvals"?\s[\s\S]*?;/gi) ?? []),
];

describe('the state of an approval', () => {
  it('is updated by move alone', () => {
    const writers = sources.filter((path) => updates(textOf(path)).some((one) => /\bstate\b/.test(one)));
    expect(writers).toEqual(['kernel/approvals/move.ts']);
  });

  it('is otherwise only next to an update that erases what a person asked to erase', () => {
    const writers = sources.filter((path) => updates(textOf(path)).length > 0);
    expect(writers.sort()).toEqual(['kernel/approvals/move.ts', 'kernel/log/erase.ts']);
  });

  it('is inserted by move alone', () => {
    const writers = sources.filter((path) =>
      /insertInto\(\s*['"`]approvals['"`]|insert\s+into\s+"?approvals"?\s/i.test(textOf(path)),
    );
    expect(writers).toEqual(['kernel/approvals/move.ts']);
  });

  it('would be noticed in a new place, as a builder and as SQL', () => {
    expect(updates("await trx.updateTable('approvals').set({ state: 'done' }).execute();")).toHaveLength(1);
    expect(updates("await sql`update approvals set state = 'done'`.execute(db);")).toHaveLength(1);
  });
});

describe('the approvals of the kernel', () => {
  it('import only the contract, the library, the database, the log and the passkeys', () => {
    const imports = sources
      .filter((path) => path.startsWith('kernel/approvals/'))
      .flatMap((path) => [...textOf(path).matchAll(/from '(\.[^']+)'/g)].map(([, target = '']) => target));
    const allowed = /^(\.\/|\.\.\/\.\.\/(contract|lib)\/|\.\.\/(store|log|passkeys)\/)/;
    expect(imports.length).toBeGreaterThan(0);
    expect(imports.filter((target) => !allowed.test(target))).toEqual([]);
  });
});
