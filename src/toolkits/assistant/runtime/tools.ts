import type { ToolSet } from 'ai';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { ContentPart, Outcome } from '../../../contract/outcome.ts';
import type { KernelPorts } from '../../../contract/ports.ts';
import type { Principal } from '../../../contract/principal.ts';
import { isObject } from '../../../lib/is-object.ts';
import type { AssistantConfig } from '../config.ts';
import type { ToolCall } from './step.ts';

interface Findable {
  readonly name: string;
  readonly summary: string;
  readonly effect: string;
  readonly toolkit: string;
  readonly inputJson: JsonObject;
}

const SHOWN = 8;

/** The tools that share most words with the query; a word in the name counts more than one in the summary. */
function findTools(tools: readonly Findable[], query: string): JsonObject[] {
  const wanted = [...new Set(words(query))];
  return tools
    .map((tool) => ({ tool, score: score(tool, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.tool.name.localeCompare(b.tool.name))
    .slice(0, SHOWN)
    .map(({ tool }) => ({
      name: tool.name,
      summary: tool.summary,
      effect: tool.effect,
      input: tool.inputJson,
    }));
}

function score(tool: Findable, wanted: readonly string[]): number {
  const inName = new Set(words(`${tool.toolkit} ${tool.name}`));
  const inSummary = new Set(words(tool.summary));
  return wanted.reduce((sum, word) => sum + (inName.has(word) ? 3 : 0) + (inSummary.has(word) ? 1 : 0), 0);
}

/** Folded so that "posts" finds "post". */
function words(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    word.length > 3 ? word.replace(/(ies|es|s)$/, '') : word,
  );
}

export interface ToolText {
  readonly text: string;
  readonly isError: boolean;
}

const problemText = (text: string): ToolText => ({ text, isError: true });

/** The outcome of a tool call, in words a model can act on. A call that did not happen says so first. */
function outcomeText(outcome: Outcome, maxChars: number): ToolText {
  switch (outcome.status) {
    case 'ok': {
      const text = typeof outcome.data === 'string' ? outcome.data : JSON.stringify(outcome.data);
      const files = (outcome.content ?? []).filter((part) => part.type !== 'text').length;
      const attached = files > 0 ? `\n[${files} file(s) were attached to your reply.]` : '';
      return { text: shorten(text, maxChars) + attached, isError: false };
    }
    case 'routed':
      return problemText(
        `Not done. This call requires approval (approval ${outcome.approvalId}: ${outcome.reason}). Do not retry it; say in your answer that approval is pending.`,
      );
    case 'dry_run':
      return problemText(
        `Not done: policy allows a dry run only (${outcome.rule}). ${outcome.data === undefined ? '' : `It would have returned: ${shorten(JSON.stringify(outcome.data), maxChars)}`}`.trim(),
      );
    case 'needs_person':
      return problemText(`Not done. Only a person can decide this: ${outcome.question}`);
    case 'refused':
      return problemText(
        `Refused and not done (${outcome.fault.code}): ${outcome.fault.message} ${outcome.fault.hint}`,
      );
    case 'failed':
      return problemText(`Failed (${outcome.fault.code}): ${outcome.fault.message} ${outcome.fault.hint}`);
    case 'indeterminate':
      return problemText(
        'Outcome unknown: this call may have taken effect. Do not retry it; a person will check. Say so in your answer.',
      );
    default:
      return outcome satisfies never;
  }
}

/** Head and tail: the end of a listing or log often matters as much as its beginning. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters omitted …]\n${text.slice(-half)}`;
}

/** The assistant acts under its own name: policy judges it like any other agent. */
export const ASSISTANT: Principal = { kind: 'agent', id: 'assistant' };

const OWN_TOOLKIT = 'assistant';
/** The search over tools that are too many to list. */
export const FIND_TOOLS = 'find_tools';
const USE = 'use_tool';

export type OfferedTool = ReturnType<KernelPorts['tools']>[number];

export interface ToolReply extends ToolText {
  /** The tool that was really called, also behind use_tool. */
  readonly tool: string;
  readonly outcome?: Outcome;
  readonly attachments: readonly ContentPart[];
}

type Limits = Pick<AssistantConfig, 'tools' | 'max_listed_tools' | 'tool_result_chars'>;

/**
 * The other toolkits' tools as the model sees them. Every call enters the pipeline; decisions are never offered,
 * regardless of the configuration, and neither is the assistant itself.
 */
export class ToolBench {
  readonly #kernel: Pick<KernelPorts, 'tools' | 'invoke'>;
  readonly #limits: Limits;
  readonly #byName = new Map<string, OfferedTool>();
  readonly #isCatalogue: boolean;

  constructor(kernel: Pick<KernelPorts, 'tools' | 'invoke'>, limits: Limits) {
    this.#kernel = kernel;
    this.#limits = limits;
    const patterns = limits.tools.map(globPattern);
    const offered = kernel
      .tools()
      .filter((tool) => tool.toolkit !== OWN_TOOLKIT && tool.effect !== 'decide')
      .filter((tool) => patterns.some((pattern) => pattern.test(tool.name)));
    this.#isCatalogue = offered.length > limits.max_listed_tools;
    for (const tool of offered) {
      // Behind use_tool a tool keeps its real name; listed, it needs one that providers take.
      const name = this.#isCatalogue ? tool.name : modelName(tool.name, (taken) => this.#byName.has(taken));
      this.#byName.set(name, tool);
    }
  }

  async declare(): Promise<ToolSet | undefined> {
    if (this.#byName.size === 0) return undefined;
    const { tool, jsonSchema } = await import('ai');
    // Without `execute` the SDK hands the calls back instead of running them.
    const declare = (description: string, schema: JsonObject) =>
      tool({ description, inputSchema: jsonSchema(schema) });
    if (this.#isCatalogue) {
      return {
        [FIND_TOOLS]: declare(`Searches the ${this.#byName.size} tools you can use.`, FIND_SCHEMA),
        [USE]: declare(`Uses a tool that ${FIND_TOOLS} listed.`, USE_SCHEMA),
      };
    }
    return Object.fromEntries(
      [...this.#byName].map(([name, tool]) => [name, declare(tool.summary, tool.inputJson)]),
    );
  }

  /** `orderedBy`: the caller of the order, whom people see next to the assistant's name. */
  async use(
    call: ToolCall,
    { orderedBy, ...options }: { signal: AbortSignal; idempotencyKey: string; orderedBy: string },
  ): Promise<ToolReply> {
    if (call.name === FIND_TOOLS && this.#isCatalogue) return this.#find(call.input);
    const found = this.#resolve(call);
    if (!found) {
      return { tool: call.name, attachments: [], ...problemText('Tool not found.') };
    }
    if (!found.args) {
      return {
        tool: found.tool.name,
        attachments: [],
        ...problemText('Arguments must be a JSON object.'),
      };
    }
    const { name } = found.tool;
    const outcome = await orAbort(
      this.#kernel.invoke(name, found.args, { ...ASSISTANT, orderedBy }, options),
      options.signal,
    );
    const attachments =
      outcome.status === 'ok' ? (outcome.content ?? []).filter((part) => part.type !== 'text') : [];
    return { tool: name, outcome, attachments, ...outcomeText(outcome, this.#limits.tool_result_chars) };
  }

  #find(input: unknown): ToolReply {
    const query = isObject(input) && typeof input.query === 'string' ? input.query : '';
    const found = findTools([...this.#byName.values()], query);
    return { tool: FIND_TOOLS, attachments: [], text: JSON.stringify(found), isError: false };
  }

  #resolve(call: ToolCall): { tool: OfferedTool; args: JsonObject | undefined } | undefined {
    let { name, input } = call;
    if (this.#isCatalogue) {
      if (call.name !== USE || !isObject(call.input)) return undefined;
      name = String(call.input.name ?? '');
      input = call.input.arguments;
    }
    const tool = this.#byName.get(name);
    const args = input ?? {};
    return tool && { tool, args: isObject<JsonValue>(args) ? args : undefined };
  }
}

/** A tool that does not heed the signal must not hold up a cancel; the kernel records how it ends. */
function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** Providers take letters, digits, `_` and `-`, and at most 64 of them. */
function modelName(name: string, isTaken: (name: string) => boolean): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_');
  let candidate = plain.slice(0, 64);
  for (let n = 2; isTaken(candidate); n += 1) candidate = `${plain.slice(0, 60)}_${n}`;
  return candidate;
}

function globPattern(glob: string): RegExp {
  const escaped = glob.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`);
}

const FIND_SCHEMA: JsonObject = {
  type: 'object',
  properties: { query: { type: 'string', description: 'What you want to do, in a few words.' } },
  required: ['query'],
};

const USE_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Name of the tool.' },
    arguments: { type: 'object', description: 'Its arguments, as its schema says.' },
  },
  required: ['name'],
};
