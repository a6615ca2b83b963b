import { ToolFault } from '../../../contract/faults.ts';

export interface Placeholders {
  readonly message: string;
  readonly session: string;
  readonly transcript: string;
  readonly files: string;
}

const PLACEHOLDER = /\{(message|session|transcript|files)\}/g;

export const mentions = (template: readonly string[], name: keyof Placeholders): boolean =>
  template.some((element) => element.includes(`{${name}}`));

/**
 * Fills the template. Each element stays one argument whatever it is filled with, and what is filled in is never looked
 * at for placeholders again. A message that would be read as an option is refused unless `--` stands before it.
 */
export function fillArgv(template: readonly string[], values: Placeholders): string[] {
  const optionsEnd = template.indexOf('--');
  return template.map((element, index) => {
    const filled = element.replace(PLACEHOLDER, (_, name: keyof Placeholders) => values[name]);
    const isValue = optionsEnd >= 0 && index > optionsEnd;
    if (element.startsWith('{message}') && filled.startsWith('-') && !isValue) {
      throw new ToolFault(
        'invalid_input',
        'The message begins with "-", and the configured command would take it for an option. Put "--" before {message} in [assistant] command, or leave {message} out to pass it on standard input.',
      );
    }
    return filled;
  });
}
