import { type IngressName, type ReadRequest, startUpstream, type Upstream } from '@enterprise-api/testkit';
import { type Front, startIngressFront } from './front.ts';

/** An ingress between two recorders: one in place of the API, one in place of the services. */
export interface RecordedIngress extends AsyncDisposable {
  readonly front: Front;
  /** What it asks `/internal/v1/authorize`, and what it sends to the API's public listener. */
  readonly asked: Upstream;
  readonly service: Upstream;
  forget(): void;
}

/** The header of a client that the recorder in place of the API knows. */
export const authorization: readonly [string, string] = ['Authorization', 'Bearer a-key'];

/** What it then grants, except that a target that ends in `/without-token` gets no token. */
export const grantedHeaders = {
  'x-request-id': 'req_1',
  'x-organization-id': 'org_1',
  'x-organization-plan': 'pro',
  'x-api-key-id': 'key_1',
  'x-api-key-scopes': 'a b',
  'x-identity-token': 'eyJ.token',
};

/** The body of its 429 for a target that ends in `/refused`. */
export const refusal = '{"error":{"code":"rate_limited"}}';

/** @param answer of the service; by default 200 with a short JSON body */
export async function startIngressWithRecorders(
  name: IngressName,
  answer?: (request: ReadRequest) => string,
): Promise<RecordedIngress> {
  await using building = new AsyncDisposableStack();
  const asked = building.use(await startUpstream({ answer: judge }));
  const service = building.use(await startUpstream({ ...(answer && { answer }) }));
  const api = [{ port: asked.port, internalPort: asked.port }];
  const front = building.use(await startIngressFront(name, { api, upstreamPort: service.port }));
  const resources = building.move();
  return {
    front,
    asked,
    service,
    forget: () => {
      asked.forget();
      service.forget();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function judge({ headers }: ReadRequest): string {
  const target = headers['x-forwarded-uri'] ?? '';
  const limits = 'RateLimit: "m";r=5;t=3\r\n';
  if (headers.authorization !== authorization[1]) return 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n';
  if (target.endsWith('/refused')) {
    const head = `HTTP/1.1 429 Too Many Requests\r\n${limits}Retry-After: 7\r\n`;
    return `${head}Content-Length: ${refusal.length}\r\n\r\n${refusal}`;
  }
  const hasToken = !target.endsWith('/without-token');
  const given = Object.entries(grantedHeaders).filter(([name]) => hasToken || name !== 'x-identity-token');
  const identity = given.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 200 OK\r\n${limits}${identity.join('')}Content-Length: 0\r\n\r\n`;
}

/** Every header that says who is calling, under whatever spelling, with its value. */
export function identityOf({ rawHeaders }: Pick<ReadRequest, 'rawHeaders'>): Record<string, string> {
  const isIdentity = /^x[-_](request[-_]id|organization|api[-_]key|identity)/i;
  const entries = rawHeaders.filter(([name]) => isIdentity.test(name));
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}
