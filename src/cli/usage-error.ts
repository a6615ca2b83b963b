import type { Command } from 'commander';
import type { Inventory } from '../catalogue/inventory.ts';
import { CliError } from '../contract/command.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import { closest } from '../lib/text.ts';

/** Lets every command say what it did not understand, what was probably meant, and how it is used. */
export function explainUsageError(command: Command): void {
  for (const one of command.commands) explainUsageError(one);
  const isGroup = command.commands.length > 0;
  if (isGroup) addHelp(command);
  command.showHelpAfterError(`Usage: ${command.createHelp().commandUsage(command)}`);
  command.on('command:*', ([word]: string[]) => rejectUnknownCommand(command, word ?? ''));
  // A mistyped command must not become an argument of the group's default one.
  command.hook('preSubcommand', ({ args: [word] }, chosen) => {
    if (word === undefined || word.startsWith('-') || chosen.registeredArguments.length > 0) return;
    if (!find(command, word)) rejectUnknownCommand(command, word);
  });
  // Commander would only count the words that are too many.
  command.allowExcessArguments().hook('preAction', (_command, acting) => {
    const { registeredArguments: takes, args } = acting;
    const word = args[takes.length];
    if (acting !== command || word === undefined || takes.at(-1)?.variadic) return;
    if (isGroup) rejectUnknownCommand(command, word);
    command.error(`error: unexpected argument '${word}'`);
  });
}

/** Commander's own help prints everything there is for a word it does not know. */
function addHelp(group: Command): void {
  const hasHelp = group
    .createHelp()
    .visibleCommands(group)
    .some((one) => one.name() === 'help');
  if (!hasHelp) return;
  group.helpCommand(false);
  group
    .command('help [command...]')
    .description('Display help for a command')
    .action((words: string[]) => {
      let shown = group;
      for (const word of words) shown = find(shown, word) ?? rejectUnknownCommand(shown, word);
      shown.outputHelp();
    });
}

const find = ({ commands }: Command, word: string): Command | undefined =>
  commands.find((one) => one.name() === word || one.aliases().includes(word));

function rejectUnknownCommand(group: Command, word: string): never {
  const known = group.commands.map((one) => one.name()).filter((name) => name !== 'help');
  const meant = closest(word, known);
  const hint =
    meant === undefined ? `(Available commands: ${known.join(', ')}.)` : `(Did you mean ${meant}?)`;
  return group.error(`error: unknown command '${word}'\n${hint}`);
}

type Known = Pick<Inventory, 'resolve' | 'catalogue' | 'withheld' | 'sources'>;

/** The tool a person named, or what they probably meant. */
export async function requireTool(inventory: Known, name: string): Promise<BoundTool> {
  const bound = await inventory.resolve(name);
  if (bound) return bound;
  if (inventory.withheld.has(name)) throw new CliError(`The configuration disables tool ${name}.`, 2);
  throw noTool(inventory, name);
}

export function noTool({ catalogue, withheld }: Known, name: string): CliError {
  const names = catalogue.flatMap((entry) => (withheld.has(entry.name) ? [] : [entry.name]));
  const message = `Unknown tool ${name}.${guess(name, names)} Run \`countersign mcp manifest\` to list tools.`;
  return new CliError(message, 2);
}

export function mustBeToolkit({ sources }: Known, id: string | undefined): void {
  const known = sources.map((one) => one.id);
  if (id === undefined || known.includes(id)) return;
  throw new CliError(`Unknown toolkit "${id}".${guess(id, known)} Available: ${known.join(', ')}.`, 2);
}

function guess(word: string, known: readonly string[]): string {
  const meant = closest(word, known);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}
