import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import { type App, readConfig } from '../../app/app.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { SECRET_NAME, SecretStore } from '../../gateway/secrets.ts';
import { print, printJson, printStderr } from '../../terminal/output.ts';

const storeOf = (global: GlobalOptions): SecretStore => {
  const { dataDir }: App['config'] = readConfig({ configPath: global.config, env: process.env });
  return new SecretStore(dataDir);
};

export async function listSecrets(global: GlobalOptions): Promise<void> {
  const names = storeOf(global).names();
  if (global.json) return printJson(names);
  print(
    names.length === 0
      ? 'No secrets are stored. Store one with: countersign secrets set NAME'
      : names.join('\n'),
  );
}

/** From standard input, never from an argument: arguments can be read by every process of the machine. */
export async function setSecret(global: GlobalOptions, name: string): Promise<void> {
  if (!SECRET_NAME.test(name))
    throw new CliError(`"${name}" is not a usable name: use letters, digits, _, . and -, at most 100.`, 2);
  const store = storeOf(global);
  const value = process.stdin.isTTY ? await askHidden(`Value of ${name}: `) : await readAll(process.stdin);
  const secret = value.replace(/\r?\n$/, '');
  if (secret === '') throw new CliError('The value is empty; nothing was stored.', 2);
  store.set(name, secret);
  if (global.json) return printJson({ name });
  print(`Stored secret ${name}. Refer to it as \${secret:${name}}.`);
}

export async function removeSecret(global: GlobalOptions, name: string): Promise<void> {
  if (!storeOf(global).remove(name))
    throw new CliError(`No secret named ${name} is stored; see \`countersign secrets\`.`);
  if (global.json) return printJson({ name });
  print(`Removed secret ${name}.`);
}

/** What is typed is not shown. */
async function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const lines = createInterface({ input: process.stdin, output: undefined, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    printStderr('');
  }
}
