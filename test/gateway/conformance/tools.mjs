// The tools that the official suite asks a server for, written with the SDK alone.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
} from '@modelcontextprotocol/server';

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

export const stateCodec = createRequestStateCodec({ key: new TextEncoder().encode('k'.repeat(32)) });

const text = (value, more = {}) => ({ content: [{ type: 'text', text: value }], ...more });
const picture = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri, mimeType, body) => ({ type: 'resource', resource: { uri, mimeType, text: body } });

const elicit = (message, properties, required = []) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } });
const askName = () => elicit('What is your name?', { name: { type: 'string' } }, ['name']);
const sample = (question, maxTokens) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens,
  });
const declared = ({ mcpReq }) => mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};

async function pushForm({ mcpReq }, message, properties, required = []) {
  const requestedSchema = { type: 'object', properties, required };
  const { action, content } = await mcpReq.elicitInput({ mode: 'form', message, requestedSchema });
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
}

async function withState(_args, { mcpReq }) {
  if (mcpReq.requestState()?.round === 1 && acceptedContent(mcpReq.inputResponses, 'confirm'))
    return text('state-ok');
  const inputRequests = { confirm: elicit('Please confirm', { ok: { type: 'boolean' } }, ['ok']) };
  return inputRequired({ inputRequests, requestState: await stateCodec.mint({ round: 1 }) });
}

const options = ['option1', 'option2', 'option3'];
const titled = ['First', 'Second', 'Third'].map((title, index) => ({
  const: `value${index + 1}`,
  title: `${title} Option`,
}));

/** Name, function, and arguments other than none. */
export const tools = [
  ['test_simple_text', () => text('This is a simple text response for testing.')],
  ['test_image_content', () => ({ content: [picture] })],
  ['test_audio_content', () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] })],
  [
    'test_embedded_resource',
    () => ({
      content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  ],
  [
    'test_multiple_content_types',
    () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        picture,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  ],
  [
    'test_error_handling',
    () => text('This tool intentionally returns an error for testing', { isError: true }),
  ],
  [
    'test_tool_with_progress',
    async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        const params = { progressToken, progress, total: 100, message: `${progress} of 100` };
        await mcpReq.notify({ method: 'notifications/progress', params });
        await sleep(50);
      }
      return text('Progress reported.');
    },
  ],
  [
    'test_tool_with_logging',
    async (_args, { mcpReq }) => {
      for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.log('info', message);
        await sleep(50);
      }
      return text('Logged.');
    },
  ],
  [
    'test_logging_tool',
    async (_args, { mcpReq }) => {
      await mcpReq.log('info', 'Logging');
      return text('Logged.');
    },
  ],
  [
    'test_sampling',
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${JSON.stringify(content)}`);
    },
    'prompt',
  ],
  [
    'test_elicitation',
    async ({ message }, context) => {
      const properties = {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      };
      return text(`User response: ${await pushForm(context, message, properties, ['username', 'email'])}`);
    },
    'message',
  ],
  [
    'test_elicitation_sep1034_defaults',
    async (_args, context) => {
      const properties = {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      };
      return text(`Elicitation completed: ${await pushForm(context, 'Check the defaults', properties)}`);
    },
  ],
  [
    'test_elicitation_sep1330_enums',
    async (_args, context) => {
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
      return text(`Elicitation completed: ${await pushForm(context, 'Choose', properties)}`);
    },
  ],
  [
    'test_input_required_result_elicitation',
    (_args, { mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_name');
      return typeof given?.name === 'string'
        ? text(`Hello, ${given.name}!`)
        : inputRequired({ inputRequests: { user_name: askName() } });
    },
  ],
  [
    'test_input_required_result_sampling',
    (_args, { mcpReq }) => {
      const given = inputResponse(mcpReq.inputResponses, 'capital_question');
      if (given.kind === 'sampling') return text(JSON.stringify(given.result.content));
      return inputRequired({
        inputRequests: { capital_question: sample('What is the capital of France?', 100) },
      });
    },
  ],
  [
    'test_input_required_result_list_roots',
    (_args, { mcpReq }) => {
      const given = inputResponse(mcpReq.inputResponses, 'client_roots');
      if (given.kind === 'roots') return text(`Roots: ${given.roots.map(({ uri }) => uri).join(', ')}`);
      return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    },
  ],
  ['test_input_required_result_request_state', withState],
  ['test_input_required_result_tampered_state', withState],
  [
    'test_input_required_result_multiple_inputs',
    async (_args, { mcpReq }) => {
      const given = mcpReq.inputResponses;
      if (given?.user_name && given.greeting && given.client_roots) return text('All inputs received.');
      const inputRequests = {
        user_name: askName(),
        greeting: sample('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      };
      return inputRequired({ inputRequests, requestState: await stateCodec.mint({ round: 1 }) });
    },
  ],
  [
    'test_input_required_result_multi_round',
    async (_args, { mcpReq }) => {
      const state = mcpReq.requestState();
      if (state?.round === 2 && acceptedContent(mcpReq.inputResponses, 'step2'))
        return text('All rounds done.');
      const second = state?.round === 1 && acceptedContent(mcpReq.inputResponses, 'step1') !== undefined;
      const inputRequests = second
        ? { step2: elicit('Step 2: What is your favorite color?', { color: { type: 'string' } }, ['color']) }
        : { step1: elicit('Step 1: What is your name?', { name: { type: 'string' } }, ['name']) };
      return inputRequired({ inputRequests, requestState: await stateCodec.mint({ round: second ? 2 : 1 }) });
    },
  ],
  [
    'test_input_required_result_capabilities',
    (_args, context) => {
      const { elicitation, sampling } = declared(context);
      const inputRequests = {
        ...(elicitation ? { user_name: askName() } : {}),
        ...(sampling ? { greeting: sample('Generate a greeting', 50) } : {}),
      };
      return Object.keys(inputRequests).length > 0 && !context.mcpReq.inputResponses
        ? inputRequired({ inputRequests })
        : text('Nothing to ask.');
    },
  ],
  [
    'test_streaming_elicitation',
    async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      return acceptedContent(mcpReq.inputResponses, 'user_name')
        ? text('Thank you.')
        : inputRequired({ inputRequests: { user_name: askName() } });
    },
  ],
  [
    'test_missing_capability',
    (_args, context) => {
      if (!declared(context).sampling)
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      return text('Sampling is declared.');
    },
  ],
];
