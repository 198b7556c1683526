import { createApiClient } from '@enterprise-api/testkit';
import { serveRequests } from '../measure/requests.ts';
import { request } from '../stage/requests.ts';
import { openBenchStage } from '../stage/stage.ts';
import type { Finding, RunContext } from '../workload.ts';

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
