/** Replaced by the build with the version of package.json; from source it says so. */
declare const COUNTERSIGN_VERSION: string | undefined;

export const VERSION: string = typeof COUNTERSIGN_VERSION === 'string' ? COUNTERSIGN_VERSION : '0.0.0-source';
