import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { pipeline } from 'node:stream';
import { pathToFileURL } from 'node:url';
import got from 'got';
// oxlint-disable-next-line no-restricted-imports -- compared with the other clients
import { Client, type Dispatcher } from 'undici';

/** Passes a request on to the upstream, and its answer to the client, both as streams. */
type Forward = (request: IncomingMessage, response: ServerResponse) => void;

/** An upstream without a path, such as `http://127.0.0.1:8080`. */
type CreateForwarder = (upstream: string) => Forward | Promise<Forward>;

/**
 * Bare pipes, without the checks, limits and header rules of a forwarder. What they cost is the least that a forwarder
 * with this client can cost.
 */
export const forwarders = {
  /** Answers by itself. What the others cost beyond this is the cost of forwarding. */
  'no forwarding': () => (request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 2 }).end('{}');
  },

  'got.stream': (upstream) => {
    const agent = { http: new HttpAgent({ keepAlive: true }) };
    const settings = { retry: { limit: 0 }, followRedirect: false, throwHttpErrors: false, decompress: false } as const;
    const http = got.extend({ ...settings, http2: false, agent });
    return (request, response) => {
      const method = request.method as 'GET';
      const stream = http.stream(upstream + request.url, { method, headers: endToEnd(request.headers) });
      stream.once('response', (answer: IncomingMessage) => {
        response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      });
      if (method === 'GET') pipeline(stream, response, ignore);
      else pipeline(request, stream, response, ignore);
    };
  },

  'node:http': (upstream) => {
    const agent = new HttpAgent({ keepAlive: true });
    const { hostname, port } = new URL(upstream);
    return (request, response) => {
      const { method, url: path } = request;
      const headers = endToEnd(request.headers);
      const outgoing = httpRequest({ agent, hostname, port, method, path, headers });
      outgoing.once('error', () => response.destroy());
      outgoing.once('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
        pipeline(answer, response, ignore);
      });
      if (method === 'GET') outgoing.end();
      else pipeline(request, outgoing, ignore);
    };
  },

  /** One client per connection, the idle ones on a stack. */
  'undici dispatch': (upstream) => {
    const idle: Client[] = [];
    return (request, response) => {
      const client = idle.pop() ?? new Client(upstream, { pipelining: 1, allowH2: false });
      const { method, url: path } = request;
      const body = method === 'GET' ? null : request;
      const options = { method, path, headers: endToEnd(request.headers), body } as Dispatcher.DispatchOptions;
      client.dispatch(
        options,
        passOn(response, () => idle.push(client)),
      );
    };
  },

  'http-proxy-3': async (upstream) => {
    const { createProxyServer } = await optional('http-proxy-3');
    const proxy = createProxyServer({ target: upstream, agent: new HttpAgent({ keepAlive: true }) });
    return (request, response) => proxy.web(request, response);
  },

  httpxy: async (upstream) => {
    const { createProxyServer } = await optional('httpxy');
    const proxy = createProxyServer({ target: upstream, agent: new HttpAgent({ keepAlive: true }) });
    return (request, response) => void proxy.web(request, response);
  },
} satisfies Record<string, CreateForwarder>;

export type ForwarderName = keyof typeof forwarders;

/** Forwarders that are measured only where `BENCH_PACKAGES` names a folder in which they are installed. */
export const optionalForwarders: readonly ForwarderName[] = ['http-proxy-3', 'httpxy'];

interface ProxyLibrary {
  createProxyServer(options: { target: string; agent: HttpAgent }): {
    web(request: IncomingMessage, response: ServerResponse): unknown;
  };
}

async function optional(name: string): Promise<ProxyLibrary> {
  const folder = pathToFileURL(`${process.env.BENCH_PACKAGES}/`);
  return import(createRequire(new URL('package.json', folder)).resolve(name));
}

function passOn(response: ServerResponse, release: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: () => undefined,
    onResponseStart: (controller, statusCode, headers) => {
      response.on('drain', () => controller.resume());
      response.writeHead(statusCode, endToEnd(headers));
    },
    onResponseData: (controller, chunk) => {
      if (!response.write(chunk)) controller.pause();
    },
    onResponseEnd: () => {
      release();
      response.end();
    },
    onResponseError: () => response.destroy(),
  };
}

const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host', 'expect']);

function endToEnd(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) if (!hopByHop.has(name)) kept[name] = headers[name] as string;
  return kept;
}

const ignore = () => undefined;
