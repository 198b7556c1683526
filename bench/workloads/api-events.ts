import { insertOrganization } from '@enterprise-api/testkit';
import { serveRequests } from '../measure/requests.ts';
import { emission } from '../stage/emission.ts';
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
