import { forStandbys, queueBackends, startOwnPostgres } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { campaigns } from './catalogue.ts';

describe.each(queueBackends())('queued on $name', (backend) => {
  it.each([campaigns.R5, campaigns['R5-crash'], campaigns['R5-network'], campaigns.R20])(
    '$promise: $what',
    async ({ short }) => {
      await using resources = new AsyncDisposableStack();
      const postgres = resources.use(await startOwnPostgres({ settings: forStandbys }));
      const store = resources.adopt(await backend.start(), ({ close }) => close());
      const { broken } = await short({ ...store, postgres });
      expect(broken).toEqual([]);
    },
  );
});

it('F9: the queue’s own connections to PostgreSQL fail while processes start', async () => {
  const { broken } = await campaigns['F9-start'].short({ redisUrl: undefined });
  expect(broken).toEqual([]);
});
