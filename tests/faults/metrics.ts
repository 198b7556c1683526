import type { ServiceProcess } from '@enterprise-api/testkit';

/** Events that this worker has taken so far because a job told it to. */
export async function takenByJobs({ url }: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^webhook_events_fanned_out_total\{by="job",.*\} (\d+)/m.exec(text)?.[1] ?? 0);
}
