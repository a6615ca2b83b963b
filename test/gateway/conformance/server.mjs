// The official suite's fixtures on the SDK alone, nothing of ours. Arguments: `http` (else stdio), and `modern` or
// `legacy` to serve one generation only.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import {
  acceptedContent,
  createMcpHandler,
  hostHeaderValidationResponse,
  inputRequired,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { PNG, stateCodec, tools } from './tools.mjs';

const has = (word) => process.argv.includes(word);
const servesModern = !has('legacy');
const servesLegacy = !has('modern');
/** Tells every client; over HTTP each modern request has a server of its own. */
let announce = (_server, _kind) => {};

const invalid = (message, data) => new ProtocolError(-32602, message, data);
const said = (text) => ({ role: 'user', content: { type: 'text', text } });
const argument = (name) => ({ name, description: name, required: true });

const resources = [
  ['static-text', 'text/plain', 'This is the content of the static text resource.'],
  ['static-binary', 'image/png', undefined],
  ['watched-resource', 'text/plain', 'Watched.'],
].map(([name, mimeType, text]) => ({ uri: `test://${name}`, name, description: name, mimeType, text }));

function readResource({ params: { uri } }) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  }
  const found = resources.find((one) => one.uri === uri);
  if (!found) throw invalid('Resource not found', { uri });
  const { mimeType, text } = found;
  return { contents: [{ uri, mimeType, ...(text === undefined ? { blob: PNG } : { text }) }] };
}

const prompts = {
  test_simple_prompt: () => [said('This is a simple prompt for testing.')],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri: uri }) => [
    {
      role: 'user',
      content: {
        type: 'resource',
        resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      },
    },
    said('Please process the embedded resource above.'),
  ],
  test_prompt_with_image: () => [
    { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
    said('Please analyze the image above.'),
  ],
  test_input_required_result_prompt: (_args, { mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_context');
    return given && [said(`Use this context: ${given.context}`)];
  },
};
const promptArguments = {
  test_prompt_with_arguments: [argument('arg1'), argument('arg2')],
  test_prompt_with_embedded_resource: [argument('resourceUri')],
};

function getPrompt({ params: { name, arguments: args = {} } }, context) {
  const make = prompts[name];
  if (!make) throw invalid(`There is no prompt ${name}`);
  const messages = make(args, context);
  if (messages) return { messages };
  const requestedSchema = {
    type: 'object',
    properties: { context: { type: 'string' } },
    required: ['context'],
  };
  const question = inputRequired.elicit({ message: 'What context should the prompt use?', requestedSchema });
  return inputRequired({ inputRequests: { user_context: question } });
}

function makeServer() {
  const server = new Server(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
      },
      requestState: { verify: (state, context) => stateCodec.verify(state, context) },
    },
  );
  const all = [
    ...tools,
    ...['tool', 'prompt', 'resource'].map((kind) => [
      `test_trigger_${kind}_change`,
      () => {
        announce(server, kind);
        return { content: [{ type: 'text', text: 'Changed.' }] };
      },
    ]),
  ];
  server.setRequestHandler('tools/list', () => ({
    tools: all.map(([name, _run, parameter]) => ({
      name,
      description: `Fixture ${name}.`,
      annotations: { readOnlyHint: true },
      inputSchema: {
        type: 'object',
        properties: parameter ? { [parameter]: { type: 'string' } } : {},
        ...(parameter ? { required: [parameter] } : {}),
      },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, context) => {
    const found = all.find(([known]) => known === name);
    if (!found) throw invalid(`Unknown tool: ${name}`);
    return found[1](args, context);
  });
  server.setRequestHandler('resources/list', () => ({
    resources: resources.map(({ text: _, ...one }) => one),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
    ],
  }));
  server.setRequestHandler('resources/read', readResource);
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [] } }));
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.keys(prompts).map((name) => ({
      name,
      description: name,
      ...(promptArguments[name] ? { arguments: promptArguments[name] } : {}),
    })),
  }));
  server.setRequestHandler('prompts/get', getPrompt);
  return server;
}

const onConnection = (server, kind) => {
  if (kind === 'tool') void server.sendToolListChanged();
  else if (kind === 'prompt') void server.sendPromptListChanged();
  else {
    void server.sendResourceListChanged();
    void server.sendResourceUpdated({ uri: 'test://watched-resource' });
  }
};

function serveHttp() {
  const sessions = new Map();
  const modern = createMcpHandler(makeServer, { legacy: 'reject' });
  announce = (server, kind) => {
    if (kind === 'tool') modern.notify.toolsChanged();
    else if (kind === 'prompt') modern.notify.promptsChanged();
    else {
      modern.notify.resourcesChanged();
      modern.notify.resourceUpdated('test://watched-resource');
    }
    if (server.transport?.sessionId) onConnection(server, kind);
  };
  const legacy = async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id'));
    if (known) return known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await makeServer().connect(transport);
    return transport.handleRequest(request);
  };
  const http = createServer(
    getRequestListener(
      async (request) =>
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins()) ??
        (!servesModern || (servesLegacy && (await isLegacyRequest(request)))
          ? legacy(request)
          : modern.fetch(request)),
      { overrideGlobalObjects: false },
    ),
  );
  http.listen(0, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`));
}

announce = onConnection;
if (has('http')) serveHttp();
else if (servesModern) serveStdio(makeServer, { legacy: servesLegacy ? 'serve' : 'reject' });
else await makeServer().connect(new StdioServerTransport());
