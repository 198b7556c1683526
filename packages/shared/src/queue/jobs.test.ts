import { expect, it } from '@jest/globals';
import { jobs } from './jobs.ts';

const id = '019a0000-0000-7000-8000-000000000000';

/** Jobs as released versions put them into the queue. Lines are added here and never changed. */
const released: [version: string, job: keyof typeof jobs, data: unknown][] = [
  ['1.0.0', 'fanOut', { version: 1, event_ids: [id] }],
  ['1.0.0', 'fanOut', { version: 1, more_in_outbox: true }],
  [
    '1.0.0',
    'writeEvent',
    {
      version: 1,
      event_id: id,
      event: {
        organization_id: 'org_01jd6kz5r8e2v9qxm3c7t4b0na',
        type: 'batch.completed',
        data: { batch_id: 'bat_1', total: 40 },
        id: 'bat_1:completed',
        occurred_at: '2026-11-21T07:00:00.000Z',
      },
      request_id: 'req_01jd6kz5r8e2v9qxm3c7t4b0na',
    },
  ],
];

it.each(released)('understands the jobs of %s: %s %j', (_version, job, data) => {
  expect(jobs[job].data.safeParse(data).error).toBeUndefined();
});

it('reads the id of an event in lower case, because public ids are made of its digits', () => {
  const [, , data] = released[2] ?? [];
  const read = jobs.writeEvent.data.parse({ ...(data as object), event_id: id.toUpperCase() });
  expect(read.event_id).toBe(id);
});
