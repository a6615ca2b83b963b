import { readFileSync } from 'node:fs';
import type { McpListing } from './mcp.ts';

/** The bundler puts this module into a chunk beside or below the file. */
const PLACES = ['../listings.json', './listings.json'];

let known: ReadonlyMap<string, McpListing> | undefined;

/**
 * How the product's tools are listed, written when it was built: making it from the schemas is a good part of a cold
 * start. Empty when the program runs from its sources.
 */
export function builtListings(): ReadonlyMap<string, McpListing> {
  known ??= new Map(PLACES.flatMap(read).map((listing) => [listing.name, listing]));
  return known;
}

function read(place: string): McpListing[] {
  try {
    return JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as McpListing[];
  } catch {
    return [];
  }
}
