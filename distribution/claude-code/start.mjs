// Starts the Countersign of the clone that this plugin comes from. Claude Code copies the plugin elsewhere, so the build
// leaves the path of the program next to this file.
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const built = new URL('program.json', import.meta.url);
const program = existsSync(built) ? JSON.parse(readFileSync(built, 'utf8')).program : undefined;
if (program === undefined || !existsSync(program)) {
  const missing =
    program === undefined ? 'This plugin was installed before a build.' : `${program} does not exist.`;
  process.stderr.write(
    `Error: ${missing} Run \`npm ci && npm run build\` in the clone of Countersign, then \`claude plugin uninstall countersign@countersign\` and \`claude plugin install countersign@countersign\`.\n`,
  );
  process.exit(1);
}
process.argv[1] = program;
await import(pathToFileURL(program).href);
