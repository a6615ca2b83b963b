import type { CheckHost, CommandApp, Finding, StatusLine } from '../../../contract/command.ts';
import type { ViewData } from '../../../contract/view.ts';
import { counted, plainText } from '../../../terminal/text.ts';
import { views } from '../views.ts';

/** State from the assistant's own view; `reachable` is set only after a ping. */
type AssistantState = ViewData<typeof views.status>;

/** With `ping`, a request is sent to the model. */
const readState = (app: CommandApp, ping: boolean): Promise<AssistantState> =>
  app.view(views, 'status', { ping });

export async function statusLine(app: CommandApp): Promise<StatusLine> {
  const state = await readState(app, false);
  return { label: 'Assistant', text: describeState(state), data: { ...state } };
}

/** Not set up is no fault: people may use the other toolkits alone. Set up and not answering is one. */
export async function checkAssistant({ app }: CheckHost): Promise<Finding[]> {
  if (!app) return [];
  const state = await readState(app, true);
  const { backend, configured, problem } = state;
  const found = { check: 'assistant', detail: describeState(state) };
  if (!problem) return [{ ...found, status: 'ok' }];
  // What is not set up, and a command that does not run, say themselves what to do.
  const fix = configured && backend === 'model' ? { fix: problem.hint } : {};
  return [{ ...found, status: configured ? 'fail' : 'warn', ...fix }];
}

/** Describes in one line which model or program answers, or why none does. */
function describeState({ backend, model, program, reachable, sessions, problem }: AssistantState): string {
  if (problem) return plainText(problem.message);
  const who = plainText((backend === 'command' ? program : model) ?? backend);
  const answers = reachable ? (backend === 'command' ? ', found' : ', responding') : '';
  return `${who}${answers}, ${counted(sessions, 'session')}`;
}
