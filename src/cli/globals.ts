import type { Command } from 'commander';
import type { GlobalOptions } from '../contract/command.ts';

/** The options that every command has, wherever on the line they stand. */
export const globals = (command: Command): GlobalOptions => command.optsWithGlobals() as GlobalOptions;
