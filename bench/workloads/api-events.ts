import { insertOrganization } from '@enterprise-api/testkit';
import { serveRequests } from '../measure/requests.ts';
import { emission } from '../stage/emission.ts';
import { openStage } from '../stage/stage.ts';
import type { Finding, RunContext } from '../workload.ts';

/** W7a: events that nobody is subscribed to, durable before their 202. No worker runs: this is the price of accepting. */
export async function apiEvents({ lab, sizes, setting }: RunContext): Promise<Finding> {
  await using stage = await openStage(lab, { setting, worker: false });
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
