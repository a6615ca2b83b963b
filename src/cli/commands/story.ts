import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { readStory } from '../../kernel/views/story.ts';
import { showUnseenLine } from '../../lib/unseen.ts';
import { paint } from '../../terminal/color.ts';
import { print, printJson } from '../../terminal/output.ts';
import { behind } from '../../terminal/presentation.ts';
import { plainText } from '../../terminal/text.ts';
import { withApp } from '../context.ts';

/** Where the words of a step begin, behind its time. */
const AT = 26;

/** What happened to a call, one line per step. */
export function auditStory(global: GlobalOptions, callId: string): Promise<void> {
  return withApp(global, async ({ database }) => {
    const story = await readStory(database, callId);
    if (!story) throw new CliError(`Call ${callId} not found.`);
    if (!story.valid) process.exitCode = 1;
    if (global.json) return printJson(story);
    if (story.entries === 0)
      return print(
        `${paint('red', 'INVALID')}: the audit log has no entry of call ${plainText(callId)}; only a row of the database names it.`,
      );
    print(`${paint('bold', showUnseenLine(story.title))}\n`);
    for (const { at, text, detail, entry } of story.steps) {
      const more = detail === null ? '' : paint('dim', ` (${behind(AT, detail)})`);
      const wrong = entry.valid ? '' : paint('red', ' INVALID: the entry was changed');
      print(`${at}  ${behind(AT, text)}${more}${wrong}`);
    }
  });
}
