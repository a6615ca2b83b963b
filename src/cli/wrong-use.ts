import type { Command } from 'commander';
import { closest } from '../lib/closest.ts';

/** Lets every command say what it did not understand, what was probably meant, and how it is used. */
export function explainWrongUse(command: Command): void {
  for (const one of command.commands) explainWrongUse(one);
  const isGroup = command.commands.length > 0;
  if (isGroup) addHelp(command);
  command.showHelpAfterError(`Usage: ${command.createHelp().commandUsage(command)}`);
  command.on('command:*', ([word]: string[]) => refuseWord(command, word ?? ''));
  // A mistyped command must not become an argument of the group's default one.
  command.hook('preSubcommand', ({ args: [word] }, chosen) => {
    if (word === undefined || word.startsWith('-') || chosen.registeredArguments.length > 0) return;
    if (!find(command, word)) refuseWord(command, word);
  });
  // Commander would only count the words that are too many.
  command.allowExcessArguments().hook('preAction', (_command, acting) => {
    const { registeredArguments: takes, args } = acting;
    const word = args[takes.length];
    if (acting !== command || word === undefined || takes.at(-1)?.variadic) return;
    if (isGroup) refuseWord(command, word);
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
    .description('display help for command')
    .action((words: string[]) => {
      let shown = group;
      for (const word of words) shown = find(shown, word) ?? refuseWord(shown, word);
      shown.outputHelp();
    });
}

const find = ({ commands }: Command, word: string): Command | undefined =>
  commands.find((one) => one.name() === word || one.aliases().includes(word));

function refuseWord(group: Command, word: string): never {
  const known = group.commands.map((one) => one.name()).filter((name) => name !== 'help');
  const meant = closest(word, known);
  const hint = meant === undefined ? `(It takes ${known.join(', ')}.)` : `(Did you mean ${meant}?)`;
  return group.error(`error: unknown command '${word}'\n${hint}`);
}
