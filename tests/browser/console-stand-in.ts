import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ApiCustomer, projectFolder, type ServiceProcess, testInternalSecret } from '@enterprise-api/testkit';

/** What a session of the console may do and is called. */
export interface SessionValues {
  scopes: string[];
  label: string;
  show_bodies: boolean;
  plan: string;
  organization_name: string;
  link_reused_at: string | null;
}

export interface StandIn extends AsyncDisposable {
  readonly origin: string;
  /** A link that enters once. */
  link(values?: Partial<SessionValues>): string;
  /** Ends every session. */
  endSessions(): void;
}

const policy = `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
const types: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.html': 'text/html',
  '.svg': 'image/svg+xml',
};
const dist = join(projectFolder, 'packages/console/dist');
const defaults: SessionValues = {
  scopes: ['me:read', 'webhooks:read', 'webhooks:write', 'usage:read', 'keys:read', 'keys:write'],
  label: 'Ada Lovelace',
  show_bodies: true,
  plan: 'enterprise',
  organization_name: 'Acme',
  link_reused_at: null,
};

/** Serves the built pages with the console's policy, and passes its requests on to a real API with a customer's key. */
export async function startStandIn(api: ServiceProcess, customer: ApiCustomer): Promise<StandIn> {
  const organization = customer.organizationId;
  const links = new Map<string, SessionValues>();
  const sessions = new Map<string, SessionValues>();
  const send = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(status === 204 ? undefined : JSON.stringify(body));
  };
  const refuse = (response: ServerResponse) =>
    send(response, 401, {
      error: { type: 'authentication_error', code: 'unauthorized', message: 'No session.', request_id: 'req_1' },
    });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    const body = await text(request);
    if (pathname === '/console/config.json')
      return send(response, 200, { sign_in_url: 'https://owner.example/console', brand: null });
    if (!pathname.startsWith('/console/api/')) return sendFile(pathname, response);
    if (pathname === '/console/api/enter') {
      const { token } = JSON.parse(body) as { token: string };
      const values = links.get(token);
      if (!values || !links.delete(token)) return refuse(response);
      const cookie = randomBytes(16).toString('hex');
      sessions.set(cookie, values);
      const entered = { organization_id: organization, path: `/console/${organization}` };
      return send(response, 200, entered, { 'set-cookie': `console=${cookie}; HttpOnly; SameSite=Strict; Path=/` });
    }
    const session = sessions.get(/console=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
    const below = `/console/api/${organization}`;
    if (!session || !pathname.startsWith(`${below}/`) || request.headers['x-console'] !== '1') return refuse(response);
    const route = pathname.slice(below.length);
    if (route === '/session') {
      const { plan, organization_name: name, ...values } = session;
      const ends = new Date(Date.now() + 3_400_000).toISOString();
      const shown = { id: 'ses_1', ...values, expires_at: ends, organization: { id: organization, name, plan } };
      return send(response, request.method === 'DELETE' ? 204 : 200, shown);
    }
    const [base, key] = route.startsWith('/v1/')
      ? [`${api.url}${route}${search}`, customer.key]
      : [internalAddress(api, organization, route, search), testInternalSecret];
    const passed = await fetch(base, {
      method: request.method ?? 'GET',
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
    });
    response.writeHead(passed.status, { 'content-type': 'application/json' });
    response.end(await passed.text());
  };
  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    link: (values = {}) => {
      const token = randomBytes(32).toString('base64url');
      links.set(token, { ...defaults, ...values });
      return `${origin}/console/enter#${token}`;
    },
    endSessions: () => sessions.clear(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

function internalAddress(api: ServiceProcess, organization: string, route: string, search: string): string {
  if (!route.startsWith('/audit'))
    return `${api.internalUrl}/internal/v1/organizations/${organization}${route}${search}`;
  return `${api.internalUrl}/internal/v1/audit${search || '?'}&organization_id=${organization}`;
}

function sendFile(pathname: string, response: ServerResponse): void {
  const isAsset = pathname.startsWith('/console/assets/');
  const file = join(dist, isAsset ? `assets/${basename(pathname)}` : 'index.html');
  if (!existsSync(file)) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[extname(file)] ?? '', 'content-security-policy': policy });
  response.end(readFileSync(file));
}
