import { toPublicId } from '@enterprise-api/shared/runtime';
import { createApiClient } from '@enterprise-api/testkit';
import { ledgerBytes } from '../measure/bytes.ts';
import { deliver, deliveryFigures } from '../measure/deliver.ts';
import { pageTimes } from '../measure/history.ts';
import { emission } from '../stage/emission.ts';
import { openFiller } from '../stage/fill.ts';
import { openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

/** The part of W1's events that is sent at each size. */
const part = 1 / 4;

/** W10: the cost of a delivery, and the time for a page of the history, by the number of rows in the ledger. */
export async function growth({ lab, sizes, setting }: RunContext): Promise<Finding> {
  const settings = { API_RATE_LIMITS: 'enterprise=100000000' };
  await using stage = await openBenchStage(lab, { setting, settings });
  // One webhook that every event goes to, and nine that have history only.
  const { organizationIds, webhookIds } = await subscribe(stage.db, lab.receiverPort, {
    organizations: 1,
    webhooks: 1,
  });
  const [organizationId = ''] = organizationIds;
  await using filler = await openFiller(stage.databaseUrl, {
    organizationId,
    webhookIds,
    folder: lab.stores.postgres.folder,
  });
  const [soundWebhookId = '', ...others] = filler.webhookIds.map((id) => toPublicId('whk', id));
  const questions = { webhookIds: others, soundWebhookId };
  const { secret: key } = await createApiClient(stage.api).createKey(toPublicId('org', organizationId));
  const { closed } = emission(stage, organizationIds);
  const problems: string[] = [];
  const figures: Record<string, number> = {};
  for (const rows of sizes.growth) {
    const filled = await filler.fillTo(rows);
    if (filled !== undefined) {
      problems.push(filled);
      break;
    }
    // At each size: the processes idle while millions of rows are inserted, and V8 drops compiled code.
    problems.push(...(await deliver(stage, closed(sizes.warmUp, 50), { webhooksPerEvent: 1 })).problems);
    const measured = await deliver(stage, closed(Math.ceil(sizes.events * part), 50), { webhooksPerEvent: 1 });
    problems.push(...measured.problems);
    const { cpu_us: cpuUs = Number.NaN, per_second: perSecond = Number.NaN } = deliveryFigures(measured);
    const pages = await pageTimes(stage, key, questions);
    problems.push(...pages.problems);
    const here = { cpu_us: cpuUs, per_second: perSecond, gigabytes: (await ledgerBytes(stage.db)) / 1e9, ...pages.p95 };
    for (const [name, value] of Object.entries(here)) figures[`${name}_at_${rows}`] = value;
  }
  return { figures, problems };
}
