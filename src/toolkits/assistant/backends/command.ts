import { constants, existsSync } from 'node:fs';
import { access, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, extname, isAbsolute, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { JsonObject } from '../../../contract/json.ts';
import { makeFolder } from '../../../lib/file-error.ts';
import { lookup, put } from '../../../lib/lookup.ts';
import type { AssistantConfig } from '../config.ts';
import { AssistantError } from '../errors.ts';
import { MAX_FILE_BYTES, tooLarge } from '../runtime/answer.ts';
import { transcriptText } from '../sessions/report.ts';
import type { Transcript } from '../sessions/transcript.ts';
import type { Backend, Reply, ReplyFile, Turn } from './backend.ts';
import { fillArgv, mentions, type ProcessResult, runProcess } from './process.ts';

type CommandConfig = Pick<
  AssistantConfig,
  'command' | 'command_resume' | 'command_cwd' | 'command_env' | 'command_output_bytes'
>;

interface CommandBackendParts {
  readonly config: CommandConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly transcript: Transcript;
  /** Where the command runs unless the configuration says otherwise. */
  readonly workDir: string;
}

/** Passed on to the command; anything else, keys of other services above all, only by name. */
const PASSED_ENV = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TERM',
  'TMPDIR',
  'TZ',
];
const QUOTED_CHARS = 300;
/** Bytes of output after which the caller is notified again that the command continues. */
const REPORT_EVERY = 4_096;

/** A command-line agent answers: for people who are signed in to one and have no API key. */
export class CommandBackend implements Backend {
  /** What a killed command had done is unknown here, so its work is never begun again unasked. */
  readonly resumable = false;
  readonly windowTokens = 0;
  readonly #parts: CommandBackendParts;

  constructor(parts: CommandBackendParts) {
    this.#parts = parts;
  }

  async check(): Promise<void> {
    await this.#locate(this.#template(false));
  }

  describe(): ReturnType<Backend['describe']> {
    return { backend: 'command', program: this.#parts.config.command?.[0] ?? null };
  }

  async ping(): Promise<JsonObject> {
    return { program: await this.#locate(this.#template(false)), found: true };
  }

  async run(turn: Turn): Promise<Reply> {
    const template = this.#template(turn.session.turns > 0);
    const program = template[0] ?? '';
    await this.#locate(template);
    const folder = await mkdtemp(join(tmpdir(), 'countersign-order-'));
    try {
      const transcript = join(folder, 'transcript.md');
      if (mentions(template, 'transcript')) {
        const earlier = await this.#parts.transcript.context(turn.session.id);
        await writeFile(transcript, transcriptText(earlier.entries), { mode: 0o600 });
      }
      const body = { role: 'user' as const, content: turn.run.message };
      await this.#parts.transcript.append(turn.run, { type: 'message', body });
      const files = join(folder, 'files');
      await mkdir(files);
      const result = await this.#spawn(turn, template, { transcript, files });
      const text = this.#readAnswer(program, result);
      const reply = { role: 'assistant' as const, content: text };
      await this.#parts.transcript.append(turn.run, { type: 'message', body: reply, model: program });
      turn.meter.addStep(program, { inputTokens: 0, outputTokens: 0 });
      const left = await readFiles(files);
      const cut = `The output of the command was cut at ${this.#parts.config.command_output_bytes} bytes.`;
      return {
        intermediate: [],
        final: text,
        files: left.files,
        pending: [],
        notices: [...(result.truncated ? [cut] : []), ...left.notices],
        model: program,
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #spawn(
    turn: Turn,
    template: readonly string[],
    paths: { transcript: string; files: string },
  ): Promise<ProcessResult> {
    const { message } = turn.run;
    const argv = fillArgv(template, { message, session: turn.session.id, ...paths });
    const cwd = this.#parts.config.command_cwd ?? this.#parts.workDir;
    makeFolder(cwd, 0o700);
    turn.report(`Running ${template[0]}`);
    let reported = 0;
    try {
      return await runProcess({
        argv,
        cwd,
        env: this.#environment(paths.files),
        input: mentions(template, 'message') ? undefined : message,
        maxOutputBytes: this.#parts.config.command_output_bytes,
        signal: turn.signal,
        onOutput: (bytes) => {
          if (bytes - reported < REPORT_EVERY) return;
          reported = bytes;
          turn.report(`Running ${template[0]} (${bytes} bytes so far)`);
        },
      });
    } catch (error) {
      turn.signal.throwIfAborted();
      throw new AssistantError(
        'assistant_not_configured',
        `The command ${template[0]} could not be started.`,
        {
          cause: error,
        },
      );
    }
  }

  #readAnswer(program: string, result: ProcessResult): string {
    if (result.exitCode === 0) return stripVTControlCharacters(result.stdout).trim();
    const how = result.killedBy ? `was ended by ${result.killedBy}` : `ended with code ${result.exitCode}`;
    const said = stripVTControlCharacters(result.stderr || result.stdout)
      .trim()
      .slice(-QUOTED_CHARS);
    throw new AssistantError(
      'assistant_error',
      `The command ${program} ${how}${said ? `, saying “${said}”` : ''}. What it did until then is unknown.`,
      {
        // It acts outside of the pipeline, so it is unknown here whether repeating is safe.
        effect: 'partial',
        retryable: false,
      },
    );
  }

  #template(resume: boolean): readonly string[] {
    const { command, command_resume } = this.#parts.config;
    const template = resume ? (command_resume ?? command) : command;
    if (template) return template;
    throw new AssistantError(
      'assistant_not_configured',
      '[assistant] backend is "command", but no command is set. Example: command = ["claude", "-p", "--session-id", "{session}", "--", "{message}"].',
    );
  }

  #environment(files: string): Record<string, string> {
    const env: Record<string, string> = { COUNTERSIGN_FILES: files };
    for (const name of [...PASSED_ENV, ...this.#parts.config.command_env]) {
      const value = lookup(this.#parts.env, name);
      if (value !== undefined) put(env, name, value);
    }
    return env;
  }

  async #locate([program = '']: readonly string[]): Promise<string> {
    const folders =
      isAbsolute(program) || program.includes('/') ? [''] : (this.#parts.env.PATH ?? '').split(delimiter);
    for (const folder of folders) {
      const path = folder === '' ? program : join(folder, program);
      const isProgram = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isProgram) return path;
    }
    throw new AssistantError(
      'assistant_not_configured',
      program.includes('/') && existsSync(program)
        ? `The command ${program} is not executable. Make it executable (chmod +x), or put the program that runs it first in [assistant] command.`
        : `The command ${program} was not found. Give its full path in [assistant] command, or put it on the PATH.`,
    );
  }
}

/** Everything the command left in its folder for files goes back with the answer. */
async function readFiles(folder: string): Promise<{ files: ReplyFile[]; notices: string[] }> {
  const files: ReplyFile[] = [];
  const notices: string[] = [];
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (!found.isFile()) continue;
    if (found.size > MAX_FILE_BYTES) {
      notices.push(tooLarge(name));
      continue;
    }
    const mediaType = lookup(MEDIA_TYPES, extname(name).toLowerCase()) ?? 'application/octet-stream';
    files.push({ name, mediaType, bytes: await readFile(path) });
  }
  return { files, notices };
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.csv': 'text/csv',
  '.json': 'application/json',
};
