import { createApiClient, insertOrganization } from '@enterprise-api/testkit';
import { serveRequests } from '../measure/requests.ts';
import { emission } from '../stage/emission.ts';
import { request } from '../stage/requests.ts';
import { openBenchStage } from '../stage/stage.ts';
import type { Finding, RunContext } from '../workload.ts';

/** W7a: events without a subscriber, durable before their 202. No worker runs: this is the cost of accepting. */
export async function apiEvents({ lab, sizes, setting }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting, worker: false });
  const { closed } = emission(stage, [await insertOrganization(stage.db)]);
  const { generator } = lab;
  const warm = await serveRequests({ generator, cpu: stage.cpu }, closed(sizes.warmUp, 50), 202);
  const measured = await serveRequests({ generator, cpu: stage.cpu }, closed(sizes.apiRequests, 50), 202);
  const { count } = await stage.db
    .selectFrom('events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const sent = sizes.warmUp + sizes.apiRequests;
  const lost = count === sent ? [] : [`the ledger has ${count} events, not ${sent}`];
  return { figures: measured.figures, problems: [...warm.problems, ...measured.problems, ...lost] };
}

/** W7b: GET /v1/me with a key that has an address allowlist, with a rate limit that is never reached. */
export async function apiMe({ lab, sizes, setting }: RunContext): Promise<Finding> {
  const settings = { API_RATE_LIMITS: 'enterprise=100000000' };
  await using stage = await openBenchStage(lab, { setting, settings, worker: false });
  const { generator } = lab;
  const client = createApiClient(stage.api);
  const { id } = await client.createOrganization();
  const { secret: key } = await client.createKey(id, { ip_allowlist: ['127.0.0.0/8'] });
  const requests = [request('GET', '/v1/me', key)];
  const load = { kind: 'closed', port: Number(new URL(stage.api.url).port), requests, connections: 50 } as const;
  const warm = await serveRequests({ generator, cpu: stage.cpu }, { ...load, count: sizes.warmUp }, 200);
  const measured = await serveRequests({ generator, cpu: stage.cpu }, { ...load, count: sizes.apiRequests }, 200);
  return { figures: measured.figures, problems: [...warm.problems, ...measured.problems] };
}
