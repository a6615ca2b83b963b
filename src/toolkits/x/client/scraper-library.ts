import { XError } from '../errors.ts';

type Library = typeof import('@the-convocation/twitter-scraper');

/** The versions Countersign is tested with. linkedom is named because its newer releases cannot be installed. */
export const INSTALL_SCRAPER = 'npm install @the-convocation/twitter-scraper@0.22.3 linkedom@0.18.12';

/** The scraper is an optional peer: few people use it, and it brings about 60 packages. */
export async function loadScraper(
  load: () => Promise<Library> = () => import('@the-convocation/twitter-scraper'),
): Promise<Library> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new XError(
      'x_not_configured',
      `provider_backend is "scraper", but the scraper is not installed. Run \`${INSTALL_SCRAPER}\` where Countersign is installed (with --global if it is installed globally), or set x_api.provider_backend to "x_api".`,
      { retryable: false, cause: error },
    );
  }
}
