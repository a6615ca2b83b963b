import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';

/** The help of every command, one after the other. */
export function commandPage(): string {
  const parts: string[] = [];
  const walk = (command: Command, path: string): void => {
    command.configureHelp({ helpWidth: 100, showGlobalOptions: false });
    parts.push(`## ${path}\n\n\`\`\`\n${command.helpInformation().trimEnd()}\n\`\`\`\n`);
    for (const child of command.commands) if (child.name() !== 'help') walk(child, `${path} ${child.name()}`);
  };
  walk(createProgram(), 'countersign');
  return `<!-- Written by \`npm run gen\`. Do not edit. -->\n\n# Commands\n\n${parts.join('\n')}`;
}
