import { closest } from '../lib/closest.ts';
import type { Inventory, OwnedTool } from '../registry/inventory.ts';
import { CliError } from './context.ts';

type Known = Pick<Inventory, 'resolve' | 'catalogue' | 'withheld' | 'sources'>;

/** The tool a person named, or what they probably meant. */
export async function mustBeTool(inventory: Known, name: string): Promise<OwnedTool> {
  const bound = await inventory.resolve(name);
  if (bound) return bound;
  if (inventory.withheld.has(name)) throw new CliError(`The configuration takes the tool ${name} away.`, 2);
  throw noTool(inventory, name);
}

export function noTool({ catalogue, withheld }: Known, name: string): CliError {
  const names = catalogue.flatMap((entry) => (withheld.has(entry.name) ? [] : [entry.name]));
  const message = `There is no tool ${name}.${guess(name, names)} \`countersign mcp manifest\` lists them.`;
  return new CliError(message, 2);
}

export function mustBeToolkit({ sources }: Known, id: string | undefined): void {
  const known = sources.map((one) => one.id);
  if (id === undefined || known.includes(id)) return;
  throw new CliError(`There is no toolkit "${id}".${guess(id, known)} Known: ${known.join(', ')}.`, 2);
}

function guess(word: string, known: readonly string[]): string {
  const meant = closest(word, known);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}
