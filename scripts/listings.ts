import { writeFileSync } from 'node:fs';
import { toMcpListing } from '../src/catalogue/mcp.ts';
import { toolkitEntries } from '../src/toolkits/index.generated.ts';

/** Writes how every tool is listed, for the build: `node scripts/run.mjs scripts/listings.ts FILE`. */
const [file = 'dist/listings.json'] = process.argv.slice(2);
const toolkits = await Promise.all(toolkitEntries.map(({ load }) => load()));
const listings = toolkits.flatMap(({ tools, dialect }) => tools.map((tool) => toMcpListing(tool, dialect)));
writeFileSync(file, JSON.stringify(listings));
