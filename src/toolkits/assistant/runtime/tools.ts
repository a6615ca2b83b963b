import type { ToolSet } from 'ai';
import type { JsonObject } from '../../../contract/json.ts';
import type { ContentPart, Outcome } from '../../../contract/outcome.ts';
import type { KernelPorts } from '../../../contract/ports.ts';
import type { Principal } from '../../../contract/principal.ts';
import type { AssistantConfig } from '../config.ts';
import { findTools } from './find-tools.ts';
import { type Told, tellOutcome, tellProblem } from './outcome-words.ts';
import type { ToolCall } from './step.ts';

/** The assistant acts under its own name: policy judges it like any other agent. */
export const ASSISTANT: Principal = { kind: 'agent', id: 'assistant' };

const OWN_TOOLKIT = 'assistant';
const FIND = 'find_tools';
const USE = 'use_tool';

export type OfferedTool = ReturnType<KernelPorts['tools']>[number];

export interface ToolReply extends Told {
  /** The tool that was really called, also behind use_tool. */
  readonly tool: string;
  readonly outcome?: Outcome;
  readonly attachments: readonly ContentPart[];
}

type Limits = Pick<AssistantConfig, 'tools' | 'max_listed_tools' | 'tool_result_chars'>;

/**
 * The other toolkits' tools as the model sees them. Every call enters the pipeline; decisions are never offered,
 * whatever the configuration says, and neither is the assistant itself.
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
        [FIND]: declare(`Searches the ${this.#byName.size} tools you can use.`, FIND_SCHEMA),
        [USE]: declare(`Uses a tool that ${FIND} listed.`, USE_SCHEMA),
      };
    }
    return Object.fromEntries(
      [...this.#byName].map(([name, tool]) => [name, declare(tool.summary, tool.inputJson)]),
    );
  }

  async use(call: ToolCall, options: { signal: AbortSignal; idempotencyKey: string }): Promise<ToolReply> {
    if (call.name === FIND && this.#isCatalogue) return this.#find(call.input);
    const found = this.#resolve(call);
    if (!found) {
      return { tool: call.name, attachments: [], ...tellProblem('There is no such tool.') };
    }
    if (!found.args) {
      return {
        tool: found.tool.name,
        attachments: [],
        ...tellProblem('The arguments must be a JSON object.'),
      };
    }
    const { name } = found.tool;
    const outcome = await orAbort(this.#kernel.invoke(name, found.args, ASSISTANT, options), options.signal);
    const attachments =
      outcome.status === 'ok' ? (outcome.content ?? []).filter((part) => part.type !== 'text') : [];
    return { tool: name, outcome, attachments, ...tellOutcome(outcome, this.#limits.tool_result_chars) };
  }

  #find(input: unknown): ToolReply {
    const query = isObject(input) && typeof input.query === 'string' ? input.query : '';
    const found = findTools([...this.#byName.values()], query);
    return { tool: FIND, attachments: [], text: JSON.stringify(found), isError: false };
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
    return tool && { tool, args: isObject(args) ? args : undefined };
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

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
