import { request } from '../stage/requests.ts';
import type { Stage } from '../stage/stage.ts';
import { quantile } from './figures.ts';

const pagesPerQuestion = 200;
/** A question that takes seconds has shown what it takes long before 200 pages. */
const withinMs = 10_000;
const day = 24 * 3_600_000;

/** The 95th percentile of pages of the delivery history, by what is asked for, in milliseconds. */
export async function pageTimes(
  stage: Stage,
  key: string,
  { webhookIds, soundWebhookId }: { webhookIds: readonly string[]; soundWebhookId: string },
): Promise<{ p95: Record<string, number>; problems: string[] }> {
  const p95: Record<string, number> = {};
  const problems: string[] = [];
  for (const [name, queries] of Object.entries(questions(webhookIds, soundWebhookId))) {
    const requests = queries.map((query) => request('GET', `/v1/webhooks/deliveries?limit=100${query}`, key));
    const port = Number(new URL(stage.api.url).port);
    const load = { kind: 'closed', port, requests, connections: 1, count: pagesPerQuestion, withinMs } as const;
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

/** What people ask the history for; several of each, so that not one page is read again and again. */
function questions(webhookIds: readonly string[], soundWebhookId: string): Record<string, string[]> {
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
