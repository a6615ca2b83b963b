import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { readStory } from '../../kernel/views/story.ts';
import { paint } from '../../terminal/color.ts';
import { print, printJson } from '../../terminal/output.ts';
import { plainText } from '../../terminal/text.ts';
import { withApp } from '../context.ts';

/** What happened to a call, one line per step. */
export function auditStory(global: GlobalOptions, callId: string): Promise<void> {
  return withApp(global, async ({ database }) => {
    const story = await readStory(database, callId);
    if (!story) throw new CliError(`Call ${callId} not found.`);
    if (global.json) return printJson(story);
    print(`${paint('bold', plainText(story.title))}\n`);
    for (const { at, text, detail, entry } of story.steps) {
      const more = detail === null ? '' : paint('dim', ` (${plainText(detail)})`);
      const wrong = entry.valid ? '' : paint('red', ' INVALID: the entry was changed');
      print(`${at}  ${plainText(text)}${more}${wrong}`);
    }
    if (!story.valid) process.exitCode = 1;
  });
}
