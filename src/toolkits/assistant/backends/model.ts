import type { ModelMessage, ToolModelMessage } from 'ai';
import type { JsonObject } from '../../../contract/json.ts';
import type { ContentPart } from '../../../contract/outcome.ts';
import type { KernelPorts } from '../../../contract/ports.ts';
import type { AssistantConfig } from '../config.ts';
import { AssistantError } from '../errors.ts';
import { Conversation } from '../runtime/conversation.ts';
import { chosenModels } from '../runtime/models.ts';
import { type PersonaFiles, systemPrompt } from '../runtime/persona.ts';
import { ModelFallbackChain, openCalls, type StepResult, type ToolCall } from '../runtime/step.ts';
import { FIND_TOOLS, shorten, ToolBench, type ToolReply } from '../runtime/tools.ts';
import type { Transcript } from '../sessions/transcript.ts';
import type { Backend, Pending, Reply, ReplyFile, Turn } from './backend.ts';

interface ModelBackendParts {
  readonly config: AssistantConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly kernel: Pick<KernelPorts, 'tools' | 'invoke'>;
  readonly transcript: Transcript;
  readonly files: PersonaFiles;
  now(): Date;
}

/** What a turn has gathered so far. */
interface Gathered {
  /** In order: what the model said on the way, and what tools gave it. */
  readonly parts: string[];
  /** The model itself has said something: results alone are no answer. */
  hasSpoken: boolean;
  readonly files: ReplyFile[];
  readonly pending: Pending[];
}

/** The agent loop: ask the model, use the tools it asks for through the pipeline, until it has an answer. */
export class ModelBackend implements Backend {
  readonly resumable = true;
  readonly #parts: ModelBackendParts;

  constructor(parts: ModelBackendParts) {
    this.#parts = parts;
  }

  get windowTokens(): number {
    return this.#parts.config.context_tokens;
  }

  async check(): Promise<void> {
    chosenModels(this.#parts.config, this.#parts.env);
  }

  describe(): ReturnType<Backend['describe']> {
    const { config } = this.#parts;
    return { backend: 'model', model: config.model ?? null, fallbacks: config.fallbacks };
  }

  async ping(signal: AbortSignal): Promise<JsonObject> {
    const { config, env } = this.#parts;
    const [first] = chosenModels(config, env);
    if (!first) throw new AssistantError('assistant_not_configured', 'No model is configured.');
    const line = new ModelFallbackChain([first], { ...config, retries: 0 });
    const messages: ModelMessage[] = [{ role: 'user', content: 'Reply with the word ready.' }];
    await line.ask({ system: 'You are being checked.', messages, signal, maxOutputTokens: 64 });
    return { model: first.name, answered: true };
  }

  async run(turn: Turn): Promise<Reply> {
    const { config, env, kernel, transcript } = this.#parts;
    const line = new ModelFallbackChain(chosenModels(config, env), config);
    const bench = new ToolBench(kernel, config);
    const tools = await bench.declare();
    const system = await systemPrompt(this.#parts.files, {
      now: this.#parts.now(),
      hasTools: tools !== undefined,
    });
    const talk = new Conversation({ transcript, line, config, system, tools });
    const gathered: Gathered = { parts: [], hasSpoken: false, files: [], pending: [] };

    if (turn.resume) await this.#pickUp(turn, bench, gathered);
    else
      await transcript.append(turn.run, {
        type: 'message',
        body: { role: 'user', content: turn.run.message },
      });

    for (;;) {
      turn.meter.check();
      turn.meter.checkPrice(line.current.name);
      turn.report(turn.meter.steps === 0 ? 'Thinking' : `Thinking (step ${turn.meter.steps + 1})`);
      const step = await talk.next(turn);
      turn.meter.addStep(line.current.name, step.usage);
      for (const message of step.messages) {
        const body = withoutFiles(message);
        await transcript.append(turn.run, { type: 'message', body, model: line.current.name });
      }
      gathered.files.push(...step.files.map(toReplyFile));
      if (step.calls.length === 0 && !hasResults(step)) return this.#reply(step, gathered, line.current.name);
      addWords(gathered, step.text);
      await this.#callTools(turn, step.calls, bench, gathered);
    }
  }

  #reply(step: StepResult, gathered: Gathered, model: string): Reply {
    const isEmpty = !gathered.hasSpoken && step.text.trim() === '';
    if (isEmpty && gathered.files.length === 0)
      throw new AssistantError('assistant_error', `${model} returned an empty answer.`);
    const cut = `The answer was cut at ${this.#parts.config.max_output_tokens} tokens. Ask it to continue in the same session.`;
    return {
      intermediate: gathered.parts,
      final: step.text,
      files: gathered.files,
      pending: gathered.pending,
      notices: step.truncated ? [cut] : [],
      model,
    };
  }

  async #callTools(
    turn: Turn,
    calls: readonly ToolCall[],
    bench: ToolBench,
    gathered: Gathered,
  ): Promise<void> {
    for (const call of calls) {
      turn.report(`Using ${call.name}`);
      // The same key when the call is made again after a crash: the kernel then answers it or says that it may have
      // happened, and never does it twice.
      const idempotencyKey = `assistant:${turn.run.id}:${turn.meter.steps}:${call.id}`;
      const reply = await bench.use(call, {
        signal: turn.signal,
        idempotencyKey,
        orderedBy: turn.session.scope,
      });
      await this.#addResult(turn, call, reply, gathered);
    }
  }

  async #addResult(turn: Turn, call: ToolCall, reply: ToolReply, gathered: Gathered): Promise<void> {
    const { outcome } = reply;
    if (outcome?.status === 'routed') {
      gathered.pending.push({ approvalId: outcome.approvalId, tool: reply.tool, reason: outcome.reason });
    }
    if (outcome?.status === 'ok') gathered.parts.push(shorten(reply.text, SHOWN_RESULT_CHARS));
    gathered.files.push(...reply.attachments.map(attachedFile).filter((file) => file !== undefined));
    const output = { type: reply.isError ? ('error-text' as const) : ('text' as const), value: reply.text };
    const content = [{ type: 'tool-result' as const, toolCallId: call.id, toolName: call.name, output }];
    await this.#parts.transcript.append(turn.run, { type: 'message', body: { role: 'tool', content } });
  }

  /** Goes on where a dead process stopped: first the calls it had promised the model a result for. */
  async #pickUp(turn: Turn, bench: ToolBench, gathered: Gathered): Promise<void> {
    const entries = await this.#parts.transcript.ofRun(turn.run.id, turn.run.session_id);
    const messages = entries
      .filter((entry) => entry.type === 'message')
      .map((entry) => JSON.parse(entry.body) as ModelMessage);
    if (messages.length === 0) {
      const body: ModelMessage = { role: 'user', content: turn.run.message };
      await this.#parts.transcript.append(turn.run, { type: 'message', body });
      return;
    }
    for (const message of messages) {
      if (message.role === 'assistant') addWords(gathered, textOf(message));
      else if (message.role === 'tool') gathered.parts.push(...resultsIn(message));
    }
    turn.meter.steps = messages.filter((message) => message.role === 'assistant').length;
    await this.#callTools(turn, openCalls(messages), bench, gathered);
  }
}

/** Longer results are shortened in the answer; the model has read them as far as `tool_result_chars` says. */
const SHOWN_RESULT_CHARS = 4_000;

function addWords(gathered: Gathered, text: string): void {
  if (text.trim() === '') return;
  gathered.parts.push(text);
  gathered.hasSpoken = true;
}

/** What tools gave, from a stored message. Failures and the search for tools were shown to the model alone. */
const resultsIn = ({ content }: ToolModelMessage): string[] =>
  content.flatMap((part) =>
    part.type === 'tool-result' && part.output.type === 'text' && part.toolName !== FIND_TOOLS
      ? [shorten(part.output.value, SHOWN_RESULT_CHARS)]
      : [],
  );

/** The SDK itself answered a call it could not read; the model must see that before it can go on. */
const hasResults = (step: StepResult): boolean => step.messages.some((message) => message.role === 'tool');

/** The bytes go to the caller; in the transcript a word stands for them, or every later request would carry them. */
function withoutFiles(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const content = message.content.map((part) =>
    part.type === 'file' ? { type: 'text' as const, text: `[a file of type ${part.mediaType}]` } : part,
  );
  return { ...message, content };
}

function textOf(message: ModelMessage): string {
  if (typeof message.content === 'string') return message.content;
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const toReplyFile = (file: StepResult['files'][number], index: number): ReplyFile => ({
  name: `file-${index + 1}.${file.mediaType.split('/')[1]?.split(/[+;]/)[0] ?? 'bin'}`,
  mediaType: file.mediaType,
  bytes: file.uint8Array,
});

function attachedFile(part: ContentPart): ReplyFile | undefined {
  if (part.type === 'text') return undefined;
  if (part.type !== 'resource') {
    return { name: `${part.type}.bin`, mediaType: part.mimeType, bytes: Buffer.from(part.data, 'base64') };
  }
  const name = part.uri.split('/').at(-1) ?? 'file';
  const bytes =
    part.blob === undefined ? Buffer.from(part.text ?? '', 'utf8') : Buffer.from(part.blob, 'base64');
  return { name, mediaType: part.mimeType, bytes };
}
