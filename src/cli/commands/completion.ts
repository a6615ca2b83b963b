import type { Command } from 'commander';
import type { GlobalOptions } from '../../contract/command.ts';
import { printExact, printJson } from '../../terminal/output.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** What may follow a command: its own commands, its options, and the values of options that have a fixed set. */
interface Level {
  /** Words of the command, such as `countersign approvals`. */
  readonly path: string;
  readonly words: readonly Word[];
  readonly values: readonly { readonly flags: readonly string[]; readonly choices: readonly string[] }[];
}

interface Word {
  readonly text: string;
  readonly about: string;
}

/** Prints a script that completes every command and option of this version. */
export const printCompletion = (global: GlobalOptions, shell: Shell, program: Command): void => {
  const levels = levelsOf(program, program.name(), []);
  const script = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](levels);
  if (global.json) printJson({ shell, script });
  else printExact(script);
};

function levelsOf(command: Command, path: string, inherited: readonly Word[]): Level[] {
  const { commands, options } = command;
  const own = options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description }) => ({ text: long ?? short ?? '', about: description }));
  const flags = [...own, ...inherited];
  const words = commands.map((one) => ({ text: one.name(), about: one.description() }));
  const values = options.flatMap(({ long, short, argChoices }) =>
    argChoices ? [{ flags: [long, short].filter((one) => one !== undefined), choices: argChoices }] : [],
  );
  const [argument] = command.registeredArguments;
  const choices = (argument?.argChoices ?? []).map((text) => ({ text, about: '' }));
  return [
    {
      path,
      words: [...words, ...choices, ...flags, { text: '--help', about: 'display help' }],
      values,
    },
    ...commands.flatMap((one) => levelsOf(one, `${path} ${one.name()}`, flags)),
  ];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const paths = (levels: readonly Level[]): string[] => levels.slice(1).map(({ path }) => quoted(path));
const valueCases = ({ values }: Level): { flags: string; choices: string }[] =>
  values.map(({ flags, choices }) => ({ flags: flags.join('|'), choices: choices.join(' ') }));

const bashScript = (levels: readonly Level[]): string => `# bash completion for countersign
_countersign() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at=countersign words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${paths(levels).join('|')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${levels
  .map(
    (level) => `    ${quoted(level.path)})
      case "$prev" in
${valueCases(level)
  .map(({ flags, choices }) => `        ${flags}) words=${quoted(choices)} ;;\n`)
  .join('')}        *) words=${quoted(level.words.map(({ text }) => text).join(' '))} ;;
      esac
      ;;
`,
  )
  .join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _countersign countersign
`;

const zshScript = (levels: readonly Level[]): string => `#compdef countersign
_countersign() {
  local at=countersign word
  local -a entries
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${paths(levels).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at" in
${levels
  .map(
    (level) => `    (${quoted(level.path)})
      case "\${words[CURRENT-1]}" in
${valueCases(level)
  .map(({ flags, choices }) => `        (${flags}) entries=(${choices}) ;;\n`)
  .join('')}        (*) entries=(${level.words.map(zshEntry).join(' ')}) ;;
      esac
      ;;
`,
  )
  .join('')}  esac
  _describe countersign entries || _files
}
compdef _countersign countersign
`;

const zshEntry = ({ text, about }: Word): string =>
  quoted(about === '' ? text : `${text}:${about.replaceAll(':', '\\:')}`);

const fishScript = (levels: readonly Level[]): string => `# fish completion for countersign
function __countersign_at
    set -l at countersign
    for word in (commandline -opc)[2..]
        switch "$at $word"
            case ${paths(levels).join(' ')}
                set at "$at $word"
        end
    end
    test "$at" = "$argv"
end
${levels.flatMap(fishLines).join('\n')}
`;

function fishLines({ path, words, values }: Level): string[] {
  const when = `complete -c countersign -n ${quoted(`__countersign_at ${path}`)}`;
  return words.map(({ text, about }) => {
    const described = about === '' ? '' : ` -d ${fishQuoted(about)}`;
    if (!text.startsWith('-')) return `${when} -f -a ${quoted(text)}${described}`;
    const choices = values.find(({ flags }) => flags.includes(text))?.choices;
    const flag = text.startsWith('--') ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`;
    return `${when} ${flag}${choices ? ` -x -a ${quoted(choices.join(' '))}` : ''}${described}`;
  });
}

/** Inside of fish's quotes a backslash escapes the quote. */
const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
