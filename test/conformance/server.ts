import {
  acceptedContent,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server';
import { openApp } from '../../src/app/app.ts';
import { createServed } from '../../src/app/serving.ts';
import { serveOnHttp } from '../../src/transports/http.ts';
import { createMcpServer, toolCallHandler } from '../../src/transports/mcp-server.ts';
import type { Peer, Served } from '../../src/transports/served.ts';
import { currentExchange, withExchange } from './exchange.ts';
import { conformanceToolkit, PNG } from './toolkit.ts';

/** Our HTTP server with the fixtures the official suite asks for. */
export async function startConformanceServer(dataDir: string) {
  let served: Served | undefined;
  let changed: (what: 'tools' | 'prompts') => void = () => {};
  const toolkit = conformanceToolkit({
    stateKey: () => served?.stateKey ?? new Uint8Array(32),
    changed: (what) => changed(what),
  });
  const app = await openApp({
    env: { COUNTERSIGN_HOME: dataDir, COUNTERSIGN_LOG__LEVEL: 'silent' },
    extraToolkits: [{ id: 'conformance', load: async () => toolkit }],
  });
  served = breakable(
    await createServed(app, { toolkits: ['conformance'], profile: 'write', discovery: false }),
  );
  const listening = await serveOnHttp(served, {
    host: '127.0.0.1',
    port: 0,
    serverFor,
    onNotifier: (notify) => {
      changed = (what) => (what === 'tools' ? notify.toolsChanged() : notify.promptsChanged());
    },
  });
  return {
    app,
    url: `http://localhost:${listening.port}/mcp`,
    async close() {
      await listening.close();
      await app.close();
    },
  };
}

/** Lets a fixture fail the whole call, as a server that breaks would; a task then shows it. */
const breakable = (served: Served): Served => ({
  ...served,
  async invoke(request) {
    const result = await served.invoke(request);
    const { error } = currentExchange();
    if (error) throw error;
    return result;
  },
});

function serverFor(served: Served, peer: Peer): Server {
  const server = createMcpServer(served, peer);
  const call = toolCallHandler(served, peer, server);
  server.setRequestHandler('tools/call', (request, context) =>
    withExchange(context, () => call(request, context)),
  );
  server.registerCapabilities({
    logging: {},
    completions: {},
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true },
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [] } }));
  addResources(server);
  addPrompts(server);
  return server;
}

function addResources(server: Server): void {
  const text = {
    uri: 'test://static-text',
    name: 'static-text',
    description: 'Static text.',
    mimeType: 'text/plain',
  };
  const binary = {
    uri: 'test://static-binary',
    name: 'static-binary',
    description: 'A picture.',
    mimeType: 'image/png',
  };
  const watched = {
    uri: 'test://watched-resource',
    name: 'watched',
    description: 'Watched.',
    mimeType: 'text/plain',
  };
  server.setRequestHandler('resources/list', () => ({ resources: [text, binary, watched] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'By id.',
        mimeType: 'application/json',
      },
    ],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id !== undefined) {
      const body = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: 'application/json', text: body }] };
    }
    if (uri === text.uri)
      return {
        contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
      };
    if (uri === binary.uri) return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
    if (uri === watched.uri) return { contents: [{ uri, mimeType: 'text/plain', text: 'Watched.' }] };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri });
  });
}

function addPrompts(server: Server): void {
  const said = (text: string) => ({ role: 'user' as const, content: { type: 'text' as const, text } });
  const argument = (name: string) => ({ name, description: name, required: true });
  server.setRequestHandler('prompts/list', () => ({
    prompts: [
      { name: 'test_simple_prompt', description: 'Simple.' },
      {
        name: 'test_prompt_with_arguments',
        description: 'With arguments.',
        arguments: [argument('arg1'), argument('arg2')],
      },
      {
        name: 'test_prompt_with_embedded_resource',
        description: 'With a resource.',
        arguments: [argument('resourceUri')],
      },
      { name: 'test_prompt_with_image', description: 'With a picture.' },
      { name: 'test_input_required_result_prompt', description: 'Asks first.' },
    ],
  }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, context) => {
    switch (name) {
      case 'test_simple_prompt':
        return { messages: [said('This is a simple prompt for testing.')] };
      case 'test_prompt_with_arguments':
        return { messages: [said(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)] };
      case 'test_prompt_with_embedded_resource': {
        const resource = {
          uri: args.resourceUri ?? '',
          mimeType: 'text/plain',
          text: 'Embedded resource content for testing.',
        };
        return {
          messages: [
            { role: 'user', content: { type: 'resource', resource } },
            said('Please process the embedded resource above.'),
          ],
        };
      }
      case 'test_prompt_with_image':
        return {
          messages: [
            { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
            said('Please analyze the image above.'),
          ],
        };
      case 'test_input_required_result_prompt': {
        const given = acceptedContent<{ context: string }>(context.mcpReq.inputResponses, 'user_context');
        if (given) return { messages: [said(`Use this context: ${given.context}`)] };
        const requestedSchema = {
          type: 'object' as const,
          properties: { context: { type: 'string' as const } },
          required: ['context'],
        };
        return inputRequired({
          inputRequests: {
            user_context: inputRequired.elicit({
              message: 'What context should the prompt use?',
              requestedSchema,
            }),
          },
        });
      }
      default:
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name}`);
    }
  });
}
