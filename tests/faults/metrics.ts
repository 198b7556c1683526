import type { ServiceProcess } from '@enterprise-api/testkit';

/** Events that this worker has fanned out so far because a job told it to. */
export async function fannedOutByJobs({ url }: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^webhook_events_fanned_out_total\{by="job",.*\} (\d+)/m.exec(text)?.[1] ?? 0);
}
