import {
  type ApiClient,
  createApiClient,
  type Fleet,
  freePorts,
  type IngressName,
  openStage,
  type ServiceProcess,
  startFleet,
  startUpstream,
  type Upstream,
} from '@enterprise-api/testkit';
import { authorizeSecret, type Front, startIngressFront } from './front.ts';
import type { Destination } from './raw-exchange.ts';

/** The real API behind a real ingress, and one service behind both. */
export interface IngressStage extends AsyncDisposable {
  readonly front: Front;
  /** The public listener of the API, without an ingress. */
  readonly direct: Destination;
  readonly apis: Fleet;
  readonly upstream: Upstream;
  readonly client: ApiClient;
}

export interface IngressStageOptions {
  /** How many processes the API has; 1 by default. */
  apis?: number;
  /** Settings of the API beyond those that an ingress needs. */
  settings?: Record<string, string>;
}

const usualSettings = {
  INTERNAL_AUTHORIZE_SECRET: authorizeSecret,
  API_TRUSTED_PROXIES: '127.0.0.1/32',
  API_RATE_LIMITS: 'pro=1,business=1000,enterprise=1000000',
  API_AUTH_FAILURES: '1000000',
};

export async function openIngressStage(name: IngressName, options: IngressStageOptions = {}): Promise<IngressStage> {
  await using building = new AsyncDisposableStack();
  const stage = building.use(await openStage({ redisUrl: undefined }));
  const settings = { ...usualSettings, ...options.settings };
  const ports = await apiPorts(options.apis ?? 1);
  const apis = building.use(await startApis(ports, (own) => stage.startApi({ ...settings, ...own })));
  const upstream = building.use(await startUpstream());
  const front = building.use(await startIngressFront(name, { api: ports, upstreamPort: upstream.port }));
  const [api] = apis.members;
  const [place] = ports;
  if (api === undefined || place === undefined) throw new Error('An ingress needs an API.');
  const resources = building.move();
  return {
    front,
    direct: { port: place.port },
    apis,
    upstream,
    client: createApiClient(api),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

type ApiPorts = { port: number; internalPort: number };

async function apiPorts(count: number): Promise<ApiPorts[]> {
  const ports = await freePorts(2 * count);
  return Array.from({ length: count }, (_, place) => ({
    port: ports[2 * place] as number,
    internalPort: ports[2 * place + 1] as number,
  }));
}

/** A process that replaces another one has its ports, as behind an orchestrator's address. */
function startApis(
  ports: readonly ApiPorts[],
  start: (settings: Record<string, string>) => Promise<ServiceProcess>,
): Promise<Fleet> {
  const unused = [...ports];
  return startFleet(ports.length, async () => {
    const own = unused.shift();
    if (own === undefined) throw new Error('All ports of the fleet are in use.');
    const member = await start({ API_PORT: String(own.port), INTERNAL_PORT: String(own.internalPort) });
    void member.exited.then(() => unused.push(own));
    return member;
  });
}
