import { setTimeout as sleep } from 'node:timers/promises';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ToolError } from '../../src/contract/errors.ts';
import { READ_PROFILES, type ToolContext, toolFactory } from '../../src/contract/tool.ts';
import { defineToolkit, type Toolkit } from '../../src/contract/toolkit.ts';
import { currentExchange } from './exchange.ts';
import { taskTools } from './task-tools.ts';

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

interface Services {
  readonly stateKey: () => Uint8Array;
  readonly changed: (what: 'tools' | 'prompts') => void;
}

const define = toolFactory<Services>();
type Run = (args: { prompt?: string; message?: string }, context: ToolContext<Services>) => Promise<string>;

const fixture = (name: string, run: Run, input: z.ZodObject = z.object({})) =>
  define({
    name,
    title: name,
    summary: `Conformance fixture ${name}.`,
    effect: 'read',
    reach: 'local',
    category: 'conformance',
    profiles: READ_PROFILES,
    errors: [],
    input,
    output: z.object({ text: z.string() }),
    run: async (args, context) => ({ text: await run(args, context) }),
  });

const ask = (message: string, properties: Record<string, unknown>, required: string[]) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } as never });
const name = () => ask('What is your name?', { name: { type: 'string' } }, ['name']);
const sampling = (text: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });

const answerWith = (answer: ReturnType<typeof inputRequired>): string => {
  currentExchange().answer = answer;
  return '';
};
const responses = () => currentExchange().context.mcpReq.inputResponses;

const codec = (services: Services) =>
  createRequestStateCodec<{ round: number }>({ key: services.stateKey() });

const contents = [
  fixture('test_simple_text', async () => 'This is a simple text response for testing.'),
  fixture('test_image_content', async (_args, context) =>
    only(context, { type: 'image', data: PNG, mimeType: 'image/png' }),
  ),
  fixture('test_audio_content', async (_args, context) =>
    only(context, { type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  ),
  fixture('test_embedded_resource', async (_args, context) =>
    only(context, {
      type: 'resource',
      uri: 'test://embedded-resource',
      mimeType: 'text/plain',
      text: 'This is an embedded resource content.',
    }),
  ),
  fixture('test_multiple_content_types', async (_args, context) => {
    context.attach({ type: 'image', data: PNG, mimeType: 'image/png' });
    context.attach({
      type: 'resource',
      uri: 'test://mixed-content-resource',
      mimeType: 'application/json',
      text: '{"test":"data","value":123}',
    });
    return 'Multiple content types test:';
  }),
  fixture('test_error_handling', async () => {
    throw new ToolError('validation_error', 'This tool intentionally returns an error for testing');
  }),
  fixture('test_tool_with_progress', async (_args, { progress }) => {
    for (const done of [0, 50, 100]) {
      progress(`${done} of 100`, done, 100);
      await sleep(50);
    }
    return 'Progress reported.';
  }),
];

/** The scenario wants exactly one part and no text next to it. */
function only(_context: ToolContext<Services>, part: { type: string; [key: string]: unknown }): string {
  const { type, uri, mimeType, text } = part;
  const content = type === 'resource' ? { type, resource: { uri, mimeType, text } } : part;
  currentExchange().answer = { content: [content] } as never;
  return '';
}

const log = async (times: readonly string[], pause: number): Promise<void> => {
  for (const text of times) {
    await currentExchange().context.mcpReq.log('info', text);
    await sleep(pause);
  }
};

const pushed = [
  fixture('test_tool_with_logging', async () => {
    await log(['Tool execution started', 'Tool processing data', 'Tool execution completed'], 50);
    return 'Logged.';
  }),
  fixture('test_logging_tool', async () => {
    await log(['Logging'], 0);
    return 'Logged.';
  }),
  fixture(
    'test_sampling',
    async ({ prompt = '' }) => {
      const { mcpReq } = currentExchange().context;
      const result = await mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      });
      return `LLM response: ${JSON.stringify(result.content)}`;
    },
    z.object({ prompt: z.string() }),
  ),
  fixture(
    'test_elicitation',
    async ({ message = '' }) => {
      const properties = {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      };
      return `User response: ${await elicit(message, properties, ['username', 'email'])}`;
    },
    z.object({ message: z.string() }),
  ),
  fixture('test_elicitation_sep1034_defaults', async () => {
    const properties = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    };
    return `Elicitation completed: ${await elicit('Check the defaults', properties, [])}`;
  }),
  fixture('test_elicitation_sep1330_enums', async () => {
    const options = ['option1', 'option2', 'option3'];
    const titled = ['First', 'Second', 'Third'].map((title, index) => ({
      const: `value${index + 1}`,
      title: `${title} Option`,
    }));
    const properties = {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    };
    return `Elicitation completed: ${await elicit('Choose', properties, [])}`;
  }),
];

async function elicit(
  message: string,
  properties: Record<string, unknown>,
  required: string[],
): Promise<string> {
  const { mcpReq } = currentExchange().context;
  const result = await mcpReq.elicitInput({
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties, required } as never,
  });
  return `action=${result.action}, content=${JSON.stringify(result.content ?? {})}`;
}

const rounds = [
  fixture('test_input_required_result_elicitation', async () => {
    const given = acceptedContent(responses(), 'user_name', z.object({ name: z.string() }));
    return given
      ? `Hello, ${given.name}!`
      : answerWith(inputRequired({ inputRequests: { user_name: name() } }));
  }),
  fixture('test_input_required_result_sampling', async () => {
    const given = inputResponse(responses(), 'capital_question');
    if (given.kind === 'sampling') return JSON.stringify(given.result.content);
    return answerWith(
      inputRequired({ inputRequests: { capital_question: sampling('What is the capital of France?', 100) } }),
    );
  }),
  fixture('test_input_required_result_list_roots', async () => {
    const given = inputResponse(responses(), 'client_roots');
    if (given.kind === 'roots') return `Roots: ${given.roots.map(({ uri }) => uri).join(', ')}`;
    return answerWith(inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } }));
  }),
  ...['test_input_required_result_request_state', 'test_input_required_result_tampered_state'].map((tool) =>
    fixture(tool, async (_args, { services }) => {
      const state = currentExchange().context.mcpReq.requestState<{ round: number }>();
      if (state?.round === 1 && acceptedContent(responses(), 'confirm')) return 'state-ok';
      const inputRequests = { confirm: ask('Please confirm', { ok: { type: 'boolean' } }, ['ok']) };
      return answerWith(
        inputRequired({ inputRequests, requestState: await codec(services).mint({ round: 1 }) }),
      );
    }),
  ),
  fixture('test_input_required_result_multiple_inputs', async (_args, { services }) => {
    const given = responses();
    if (given?.user_name && given.greeting && given.client_roots) return 'All inputs received.';
    const inputRequests = {
      user_name: name(),
      greeting: sampling('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    };
    return answerWith(
      inputRequired({ inputRequests, requestState: await codec(services).mint({ round: 1 }) }),
    );
  }),
  fixture('test_input_required_result_multi_round', async (_args, { services }) => {
    const state = currentExchange().context.mcpReq.requestState<{ round: number }>();
    if (state?.round === 2 && acceptedContent(responses(), 'step2')) return 'All rounds done.';
    const second = state?.round === 1 && acceptedContent(responses(), 'step1') !== undefined;
    const inputRequests: Record<string, ReturnType<typeof ask>> = second
      ? { step2: ask('Step 2: What is your favorite color?', { color: { type: 'string' } }, ['color']) }
      : { step1: ask('Step 1: What is your name?', { name: { type: 'string' } }, ['name']) };
    return answerWith(
      inputRequired({ inputRequests, requestState: await codec(services).mint({ round: second ? 2 : 1 }) }),
    );
  }),
  fixture('test_input_required_result_capabilities', async () => {
    const declared = capabilities();
    const inputRequests = {
      ...(declared.elicitation ? { user_name: name() } : {}),
      ...(declared.sampling ? { greeting: sampling('Generate a greeting', 50) } : {}),
    };
    return Object.keys(inputRequests).length > 0 && !responses()
      ? answerWith(inputRequired({ inputRequests }))
      : 'Nothing to ask.';
  }),
  fixture('test_streaming_elicitation', async (_args, { progress }) => {
    progress('asking', 1);
    return acceptedContent(responses(), 'user_name')
      ? 'Thank you.'
      : answerWith(inputRequired({ inputRequests: { user_name: name() } }));
  }),
  fixture('test_missing_capability', async () => {
    if (!capabilities().sampling)
      currentExchange().error = new MissingRequiredClientCapabilityError({
        requiredCapabilities: { sampling: {} },
      });
    return 'Sampling is declared.';
  }),
  fixture('test_trigger_tool_change', async (_args, { services }) => {
    services.changed('tools');
    return 'Changed.';
  }),
  fixture('test_trigger_prompt_change', async (_args, { services }) => {
    services.changed('prompts');
    return 'Changed.';
  }),
];

function capabilities(): { sampling?: object; elicitation?: object } {
  const envelope = currentExchange().context.mcpReq.envelope as Record<string, unknown> | undefined;
  return (envelope?.[CLIENT_CAPABILITIES_META_KEY] as object | undefined) ?? {};
}

/** Every fixture tool the official suite asks for; their calls pass the pipeline like any other. */
export const conformanceToolkit = (services: Services): Toolkit =>
  defineToolkit<Services>({
    id: 'conformance',
    title: 'Conformance',
    tools: [...contents, ...pushed, ...rounds, ...taskTools],
    connect: async () => services,
  }) as unknown as Toolkit;
