import { startPeer } from '@enterprise-api/testkit';
import { cpuTimes } from '../measure/cpu.ts';
import { serveRequests } from '../measure/requests.ts';
import { request } from '../stage/requests.ts';
import type { Finding, RunContext } from '../workload.ts';
import type { ExpressCalls } from './express-main.ts';
import { usualBody } from './outbound.ts';

/** B4: an Express route with its key in memory, which stores nothing. */
export async function expressRoute({ lab, sizes }: RunContext): Promise<Finding> {
  await using api = await startPeer<ExpressCalls>(new URL('./express-main.ts', import.meta.url));
  const key = 'nwk_benchmark';
  const { port } = await api.call('listen', { key });
  const requests = [request('POST', '/events', key, `{"type":"consultation.completed","data":${usualBody}}`)];
  const load = { kind: 'closed', port, requests, connections: 50 } as const;
  const { generator } = lab;
  const cpu = () => cpuTimes({ api: api.pid });
  await serveRequests({ generator, cpu }, { ...load, count: sizes.warmUp }, 202);
  const { figures, problems } = await serveRequests({ generator, cpu }, { ...load, count: sizes.apiRequests }, 202);
  return { figures, problems };
}
