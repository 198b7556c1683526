import { queueBackends } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { campaigns } from './catalogue.ts';

/** Processes that are killed, suspended or replaced: the short form of each run, on both backends. */
describe.each(queueBackends())('queued on $name', (backend) => {
  it.each([
    campaigns.R15,
    campaigns.R1,
    campaigns.R2,
    campaigns.R6,
    campaigns.R7,
    campaigns.R13,
    campaigns.R18,
    campaigns.R19,
    campaigns.R21,
  ])('$promise: $what', async ({ short }) => {
    await using resources = new AsyncDisposableStack();
    const store = resources.adopt(await backend.start(), ({ close }) => close());
    const { broken } = await short(store);
    expect(broken).toEqual([]);
  });
});
