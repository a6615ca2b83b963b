import { ToolError } from '../contract/errors.ts';
import type { JsonObject, JsonSchema, JsonValue } from '../contract/json.ts';
import { QUESTION_KINDS, type QuestionKind, type ServerSettings } from '../contract/servers.ts';
import type { ClientAsk, Tool, ToolContext } from '../contract/tool.ts';
import { isObject } from '../lib/is-object.ts';
import { lookup, put } from '../lib/lookup.ts';
import { deadlineOf } from './asking.ts';
import { QUESTION_METHODS, questionTool } from './names.ts';
import { anyResult, jsonSchema } from './schema.ts';
import { hideSecrets } from './secrets.ts';

const TITLES: Readonly<Record<QuestionKind, string>> = {
  elicitation: 'Ask the person at the client',
  sampling: 'Use the model of the client',
  roots: 'List the directories of the client',
};

/** What conditions may speak of; a server need not give any of it. */
const INPUTS: Readonly<Record<QuestionKind, JsonSchema>> = {
  elicitation: { mode: { type: 'string' }, message: { type: 'string' }, url: { type: 'string' } },
  sampling: {
    maxTokens: { type: 'number' },
    systemPrompt: { type: 'string' },
    includeContext: { type: 'string' },
    messages: { type: 'array', items: { type: 'object' } },
  },
  roots: {},
};

/**
 * Not listed: a server's question is a call of one of these, made as part of the call that the server works on. Policy
 * evaluates it, and the question and its answer are evidence.
 */
export const createQuestionTools = (
  server: string,
  settings: ServerSettings,
  secrets: () => readonly string[],
): Tool[] =>
  QUESTION_KINDS.map((kind) => ({
    name: questionTool(server, kind),
    title: `${TITLES[kind]} for the server ${server}`,
    summary: `${TITLES[kind]} for the server ${server}.`,
    effect: 'read',
    reach: 'network',
    category: kind,
    profiles: [],
    errors: ['not_allowed'],
    input: jsonSchema({ type: 'object', properties: INPUTS[kind] }),
    output: anyResult(),
    keepsResult: true,
    deadlineMs: deadlineOf(settings),
    forEvidence: (part) => hideSecrets(part, secrets()),
    async run(params, { ask }) {
      if (!ask) throw new ToolError('not_allowed', 'Only a server can ask this, during one of its calls.');
      const { question } = await ask.put({ question: { method: QUESTION_METHODS[kind], params } });
      return question ?? {};
    },
  }));

const kindOf = (method: JsonValue | undefined): QuestionKind | undefined =>
  QUESTION_KINDS.find((kind) => QUESTION_METHODS[kind] === method);

/** What the protocol has for a question that was not put; sampling has nothing but an error. */
const REFUSALS: Readonly<Record<QuestionKind, JsonObject | undefined>> = {
  elicitation: { action: 'decline' },
  sampling: undefined,
  roots: { roots: [] },
};

/**
 * The client's side for one call: only what the configuration allows this server and the client declared itself, each
 * question through the pipeline. Questions that come together reach the client together.
 */
export function governedAsk(
  server: string,
  { may_ask: mayAsk }: ServerSettings,
  { ask, call }: Pick<ToolContext<unknown>, 'ask' | 'call'>,
): ClientAsk | undefined {
  const allowed = mayAsk.filter((kind) => ask?.capabilities[kind] !== undefined);
  if (!ask || allowed.length === 0) return undefined;
  const capabilities = Object.fromEntries(allowed.map((kind) => [kind, ask.capabilities[kind] ?? {}]));
  const put = async (requests: JsonObject): Promise<JsonObject> => {
    const entries = Object.entries(requests);
    const round = new Round(entries.length, ask);
    const answers = await Promise.all(
      entries.map(async ([key, request]) => {
        const { method, params } = isObject<JsonValue>(request) ? request : {};
        const kind = kindOf(method);
        if (!kind || !allowed.includes(kind)) return [key, round.leave(kind && REFUSALS[kind])] as const;
        const args = isObject<JsonValue>(params) ? params : {};
        const outcome = await call(questionTool(server, kind), args, { ask: round.part(key) });
        if (outcome.status === 'ok') return [key, outcome.data] as const;
        if (outcome.status === 'failed' && outcome.fault.effect === 'unknown') throw outcome.fault;
        return [key, round.leave(REFUSALS[kind])] as const;
      }),
    );
    return Object.fromEntries(answers.filter(([, answer]) => answer !== undefined)) as JsonObject;
  };
  return { capabilities, put };
}

/** Questions that were asked together: those that policy allows are put to the client when all were evaluated. */
class Round {
  readonly #ask: ClientAsk;
  readonly #requests: JsonObject = {};
  readonly #answers: Promise<JsonObject>;
  #left: number;
  #put: () => void = () => {};

  constructor(count: number, ask: ClientAsk) {
    this.#ask = ask;
    this.#left = count;
    const complete = new Promise<void>((resolve) => {
      this.#put = resolve;
    });
    this.#answers = complete.then(() =>
      Object.keys(this.#requests).length === 0 ? {} : this.#ask.put(this.#requests),
    );
    // The part that asked handles the rejection; without one it must not end this process.
    this.#answers.catch(() => {});
  }

  part(key: string): ClientAsk {
    return {
      capabilities: this.#ask.capabilities,
      put: async ({ question = {} }) => {
        put(this.#requests, key, question);
        this.#step();
        return { question: lookup(await this.#answers, key) ?? {} };
      },
    };
  }

  /** One of them is not put to the client. */
  leave(answer: JsonObject | undefined): JsonObject | undefined {
    this.#step();
    return answer;
  }

  #step(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#put();
  }
}
