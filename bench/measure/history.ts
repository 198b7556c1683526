import { quantile } from '@enterprise-api/testkit';
import { request } from '../stage/requests.ts';
import type { BenchStage } from '../stage/stage.ts';

const pagesPerQuery = 200;
/** A query that takes seconds is measured well enough before 200 pages. */
const withinMs = 10_000;
const day = 24 * 3_600_000;

/** The 95th percentile of the time for a page of the delivery history, by kind of query, in milliseconds. */
export async function pageTimes(
  stage: BenchStage,
  key: string,
  { webhookIds, soundWebhookId }: { webhookIds: readonly string[]; soundWebhookId: string },
): Promise<{ p95: Record<string, number>; problems: string[] }> {
  const p95: Record<string, number> = {};
  const problems: string[] = [];
  for (const [name, queries] of Object.entries(queriesOfKind(webhookIds, soundWebhookId))) {
    const requests = queries.map((query) => request('GET', `/v1/webhooks/deliveries?limit=100${query}`, key));
    const port = Number(new URL(stage.api.url).port);
    const load = { kind: 'closed', port, requests, connections: 1, count: pagesPerQuery, withinMs } as const;
    const { answeredAt, sentAt, statuses } = await stage.lab.generator.call('run', load);
    const refused = statuses.filter((status) => status !== 200).length;
    if (refused > 0) problems.push(`${refused} pages of the history (${name}) were not answered 200`);
    p95[`${name}_p95`] = quantile(
      answeredAt.map((at, index) => at - (sentAt[index] as number)),
      0.95,
    );
  }
  return { p95, problems };
}

/** Kinds of queries for the history, several of each, so that not only one page is read. */
function queriesOfKind(webhookIds: readonly string[], soundWebhookId: string): Record<string, string[]> {
  const days = Array.from({ length: 20 }, (_, back) => new Date(Date.now() - (back + 1) * day).toISOString());
  return {
    page: [''],
    page_of_webhook: webhookIds.map((id) => `&webhook_id=${id}`),
    page_failed: ['&status=failed'],
    page_failed_of_webhook: webhookIds.map((id) => `&status=failed&webhook_id=${id}`),
    page_failed_of_sound_webhook: [`&status=failed&webhook_id=${soundWebhookId}`],
    page_of_type: ['&event_type=batch.completed', '&event_type=consultation.failed'],
    page_since: days.map((from) => `&since=${from}&until=${new Date(Date.parse(from) + day / 4).toISOString()}`),
  };
}
