import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { until } from '../until.ts';
import { type ReceivedSpan, readSpans } from './spans.ts';

export type { ReceivedSpan };

/** How a collector answers: with a status, or not at all. */
export type CollectorAnswer = number | 'hangs';

/** An OpenTelemetry collector on loopback that takes traces by OTLP over HTTP. */
export interface Collector extends AsyncDisposable {
  /** OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** Every span that it was sent, also those that it refused. */
  readonly spans: readonly ReceivedSpan[];
  /** The bytes of all requests, for a search of what must not be in them. */
  readonly bodies: readonly Buffer[];
  /** The headers of each request. */
  readonly requests: readonly IncomingHttpHeaders[];
  answer(answer: CollectorAnswer): void;
  /** Waits until it was sent such a span. */
  untilSpan(what: string, isIt: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const requests: IncomingHttpHeaders[] = [];
  let status: CollectorAnswer = 200;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    bodies.push(body);
    requests.push(request.headers);
    if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/x-protobuf') {
      response.writeHead(404).end();
      return;
    }
    spans.push(...readSpans(body));
    if (status !== 'hangs') response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end();
  };
  // A process that is stopped cuts its request.
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    requests,
    answer: (answer) => {
      status = answer;
    },
    untilSpan: async (what, isIt) => {
      const found = await until(what, () => spans.find(isIt), {
        holds: (span) => span !== undefined,
        withinMs: 30_000,
      });
      return found as ReceivedSpan;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
