import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

interface Grant {
  readonly client: string;
  readonly challenge: string;
  readonly redirect: string;
  readonly resource: string;
}

/** An authorization server and the MCP server it protects, with the checks that OAuth 2.1 asks of them. */
export async function startProtected() {
  const clients = new Map<string, string[]>();
  const codes = new Map<string, Grant>();
  const access = new Set<string>();
  const refresh = new Map<string, Grant>();
  const seen: string[] = [];
  let origin = '';

  const issue = (grant: Grant): Response => {
    const tokens = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}` };
    access.add(tokens.access_token);
    refresh.set(tokens.refresh_token, grant);
    return Response.json({ ...tokens, token_type: 'Bearer', expires_in: 3600 });
  };
  const refuse = (error: string): Response => Response.json({ error }, { status: 400 });

  const authorize = ({ searchParams }: URL): Response => {
    const [client = '', redirect = '', challenge = '', resource = '', state = ''] = [
      'client_id',
      'redirect_uri',
      'code_challenge',
      'resource',
      'state',
    ].map((name) => searchParams.get(name) ?? '');
    if (!clients.get(client)?.includes(redirect)) return refuse('invalid_client');
    if (searchParams.get('code_challenge_method') !== 'S256' || !challenge) return refuse('invalid_request');
    const code = randomUUID();
    codes.set(code, { client, redirect, challenge, resource });
    return Response.redirect(
      `${redirect}?code=${code}&state=${state}&iss=${encodeURIComponent(origin)}`,
      302,
    );
  };

  const token = async (request: Request): Promise<Response> => {
    const form = new URLSearchParams(await request.text());
    seen.push(form.get('grant_type') ?? '');
    if (form.get('grant_type') === 'refresh_token') {
      const old = form.get('refresh_token') ?? '';
      const grant = refresh.get(old);
      refresh.delete(old);
      return grant ? issue(grant) : refuse('invalid_grant');
    }
    const grant = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const fits =
      grant?.challenge === proof &&
      grant.redirect === form.get('redirect_uri') &&
      grant.client === form.get('client_id') &&
      grant.resource === `${origin}/mcp`;
    return fits ? issue(grant) : refuse('invalid_grant');
  };

  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: 'protected', version: '1.0.0' });
    const annotations = { readOnlyHint: true };
    server.registerTool(
      'whoami',
      { annotations, description: 'Who.', inputSchema: z.object({}) },
      (_args, context) => ({
        content: [{ type: 'text', text: context.http?.req?.headers.get('authorization') ?? '' }],
      }),
    );
    return server;
  });

  const answer = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      case '/.well-known/oauth-authorization-server':
        return Response.json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
        });
      case '/register': {
        const asked = (await request.json()) as { redirect_uris: string[] };
        const client_id = randomUUID();
        clients.set(client_id, asked.redirect_uris);
        return Response.json({ ...asked, client_id }, { status: 201 });
      }
      case '/authorize':
        return authorize(url);
      case '/token':
        return token(request);
      case '/mcp': {
        const bearer = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? '';
        if (access.has(bearer)) return mcp.fetch(request);
        const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
        return new Response('', { status: 401, headers: { 'www-authenticate': challenge } });
      }
      default:
        return new Response('', { status: 404 });
    }
  };

  const http = createServer(getRequestListener(answer, { overrideGlobalObjects: false }));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    url: `${origin}/mcp`,
    /** Kinds of token requests, in order. */
    seen,
    expireAccess: () => access.clear(),
    revoke: () => {
      access.clear();
      refresh.clear();
    },
    async close() {
      await mcp.close();
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}
