import type { App } from '../app.ts';
import { look } from './act.ts';
import { plainText } from './plain-text.ts';

/** What the assistant's own view tells; `reachable` only when it was asked to try. */
export interface AssistantState {
  readonly backend: 'model' | 'command';
  readonly model?: string | null;
  readonly program?: string | null;
  readonly configured: boolean;
  readonly reachable?: boolean;
  readonly sessions: number;
  readonly problem?: { readonly code: string; readonly message: string; readonly hint: string };
}

/** Undefined where the assistant is not among the toolkits. With `ping` its model is really asked. */
export async function assistantState(app: App, ping: boolean): Promise<AssistantState | undefined> {
  if (!app.config.toolkits.includes('assistant')) return undefined;
  return look<AssistantState>(app, 'assistant', 'status', { ping });
}

/** One line: who answers, or why nobody does. */
export function assistantLine({
  backend,
  model,
  program,
  reachable,
  sessions,
  problem,
}: AssistantState): string {
  if (problem) return plainText(problem.message);
  const who = plainText((backend === 'command' ? program : model) ?? backend);
  const answers = reachable ? (backend === 'command' ? ', found' : ', answers') : '';
  return `${who}${answers}, ${sessions} ${sessions === 1 ? 'session' : 'sessions'}`;
}
