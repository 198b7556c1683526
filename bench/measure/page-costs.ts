import { request } from '../stage/requests.ts';
import type { BenchStage } from '../stage/stage.ts';
import { difference } from './cpu.ts';

/** Microseconds of CPU for a page of the history, of all processes and of PostgreSQL alone, by kind of question. */
export async function pageCosts(
  stage: BenchStage,
  key: string,
  { webhookId, eventId, pages }: { webhookId: string; eventId: string; pages: number },
): Promise<{ figures: Record<string, number>; problems: string[] }> {
  const figures: Record<string, number> = {};
  const problems: string[] = [];
  const dayAgo = new Date(Date.now() - 24 * 3_600_000).toISOString();
  const paths = {
    page: '/v1/webhooks/deliveries',
    page_of_webhook: `/v1/webhooks/deliveries?webhook_id=${webhookId}`,
    page_failed_of_webhook: `/v1/webhooks/deliveries?webhook_id=${webhookId}&status=failed`,
    page_of_type: '/v1/webhooks/deliveries?event_type=batch.failed',
    page_of_absent_type: '/v1/webhooks/deliveries?event_type=batch.completed',
    page_of_event: `/v1/webhooks/deliveries?event_id=${eventId}`,
    page_of_events: '/v1/events',
    page_of_events_since: `/v1/events?since=${dayAgo}`,
  };
  const port = Number(new URL(stage.api.url).port);
  for (const [name, path] of Object.entries(paths)) {
    const load = { kind: 'closed' as const, port, requests: [request('GET', path, key)], connections: 1 };
    await stage.lab.generator.call('run', { ...load, count: Math.ceil(pages / 4) });
    const before = stage.cpu();
    const { statuses } = await stage.lab.generator.call('run', { ...load, count: pages });
    const { api = Number.NaN, postgres = Number.NaN } = difference(before, stage.cpu());
    figures[`${name}_us`] = (api + postgres) / pages;
    figures[`${name}_postgres_us`] = postgres / pages;
    const refused = statuses.filter((status) => status !== 200).length;
    if (refused > 0) problems.push(`${refused} pages (${name}) were not answered 200`);
  }
  return { figures, problems };
}
