import { connect } from 'node:net';
import {
  type ApiCustomer,
  openApiStage,
  readMetric,
  type ServiceProcess,
  smugglingAttempts,
  startUpstream,
  type Upstream,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

const resources = new AsyncDisposableStack();
let upstream: Upstream;
let api: ServiceProcess;
let customer: ApiCustomer;

beforeAll(async () => {
  upstream = resources.use(await startUpstream({ answer: ({ path }) => (path.endsWith('/hangs') ? '' : ok) }));
  const settings = {
    API_UPSTREAMS: `consultations=${upstream.url}`,
    API_UPSTREAM_CONCURRENCY: '10',
    API_UPSTREAM_TIMEOUT: '1s',
    API_RATE_LIMITS: 'enterprise=100000000',
    API_AUTH_FAILURES: '1000000',
  };
  ({ api, customer } = resources.use(await openApiStage(settings)));
});
afterAll(() => resources.disposeAsync());

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const permits = () => readMetric(api.internalUrl, 'api_upstream_permits', 'area="consultations"');

/** Bytes that a client writes, one piece or several in a row, and how it leaves then. */
interface Conversation {
  pieces: string[];
  end: 'half-close' | 'reset' | 'reset later';
}

function head(method: string, path: string, ...lines: readonly string[]): string {
  const all = ['Host: api', `Authorization: Bearer ${customer.key}`, ...lines];
  return `${[`${method} /v1/consultations/${path} HTTP/1.1`, ...all].join('\r\n')}\r\n\r\n`;
}

function conversations() {
  const usual = [
    head('GET', 'answers'),
    head('GET', 'hangs'),
    `${head('POST', 'answers', 'Content-Length: 4')}body`,
    `${head('POST', 'answers', 'Content-Length: 4000')}half`,
    `${head('POST', 'answers', 'Transfer-Encoding: chunked')}4\r\nhalf\r\n`,
    `${head('POST', 'answers', 'Transfer-Encoding: chunked')}no chunk\r\n`,
    head('GET', 'answers').slice(0, -2),
    'NOT HTTP\r\n\r\n',
  ];
  const smuggling = smugglingAttempts.map(({ framing, body }) => head('POST', 'answers', ...framing) + body);
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...smuggling) },
  );
  const end = fc.constantFrom<Conversation['end'][]>(
    'half-close',
    'reset',
    'reset later',
    'reset later',
    'reset later',
  );
  return fc.record({ pieces: fc.array(piece, { minLength: 1, maxLength: 4 }), end });
}

async function converse({ pieces, end }: Conversation): Promise<void> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1').on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => socket.write(Buffer.from(pieces.join(''), 'latin1'), resolve));
  socket.resume();
  if (end === 'half-close') socket.end();
  else if (end === 'reset') socket.resetAndDestroy();
  else setTimeout(() => socket.resetAndDestroy(), 50);
  await closed;
}

describe('the permits of API_UPSTREAM_CONCURRENCY', () => {
  it('are all given back after whatever clients send and however they leave', async () => {
    const waiting = customer.call('GET', '/v1/consultations/hangs');
    await until('a permit is in use', permits, { holds: (count) => count === 1 });
    expect((await waiting).status).toBe(504);
    const property = fc.asyncProperty(fc.array(conversations(), { minLength: 20, maxLength: 20 }), async (many) => {
      await Promise.all(many.map(converse));
      await until('all permits are back', permits, { holds: (count) => count === 0, withinMs: 60_000 });
    });
    await fc.assert(property, { numRuns: 20, endOnFailure: true });
    expect(upstream.requests.length).toBeGreaterThan(50);
    const answers = Array.from({ length: 10 }, () => customer.call('GET', '/v1/consultations/answers'));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  });
});
