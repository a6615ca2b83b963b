import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { INSTALL_SCRAPER, loadScraper } from './scraper-library.ts';

describe('loadScraper', () => {
  it('says how to install the scraper where it is missing', async () => {
    // A name that no one has installed fails exactly as the scraper does.
    const missing = 'countersign-no-such-package';
    await expect(loadScraper(() => import(missing))).rejects.toMatchObject({
      code: 'x_not_configured',
      message: expect.stringContaining(INSTALL_SCRAPER),
    });
  });

  it('passes on what else goes wrong', async () => {
    await expect(loadScraper(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  it('names the versions that the tests use', () => {
    const { devDependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const scraper = '@the-convocation/twitter-scraper';
    for (const name of [scraper, 'linkedom'])
      expect(INSTALL_SCRAPER).toContain(`${name}@${devDependencies?.[name]}`);
    expect(INSTALL_SCRAPER).toContain(`${scraper}@${peerDependencies?.[scraper]}`);
  });
});
