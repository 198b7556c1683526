import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliStage, openCliStage } from './stage.ts';

describe('enterprise-api events', () => {
  let stage: CliStage;

  beforeAll(async () => {
    stage = await openCliStage();
  });
  afterAll(async () => await stage[Symbol.asyncDispose]());

  const run = (args: string[], input?: string) => stage.cli.run(args, input === undefined ? {} : { input });
  const json = <Result>(...args: string[]) => stage.cli.json<Result>(args);

  it('emits an event with its digits as they are, and lists and shows it', async () => {
    const data = '{"batch_id":"bat_1","total":12345678901234567890.10}';
    const args = ['events', 'send', '--org', stage.customer.organizationId, '--type', 'batch.completed', '--data', '-'];
    const sent = await run([...args, '--json'], data);
    const [event] = JSON.parse(sent.stdout) as { id: string }[];
    const { body } = await stage.stage.db
      .selectFrom('event_bodies')
      .select('body')
      .orderBy('event_id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    expect(body).toContain('"total":12345678901234567890.10');
    expect(await json<{ id: string }[]>('events', 'list', '--type', 'batch.completed')).toContainEqual(
      expect.objectContaining({ id: event?.id }),
    );
    expect(await json('events', 'show', event?.id ?? '')).toMatchObject({
      type: 'batch.completed',
      data: { batch_id: 'bat_1' },
    });
    // As retention does.
    await stage.stage.db.deleteFrom('event_bodies').execute();
    expect((await run(['events', 'show', event?.id ?? ''])).stdout).toContain('The data is no longer stored.');
  });

  it('lists as much as it is asked for, and says when there is more', async () => {
    const lines = Array.from({ length: 25 }, (_, index) => ({
      type: 'batch.failed',
      data: { batch_id: `bat_${index}` },
    }));
    const args = ['events', 'send', '--org', stage.customer.organizationId, '--file', '-'];
    expect(await run(args, JSON.stringify(lines))).toMatchObject({ code: 0 });
    const { stdout, stderr } = await run(['events', 'list', '--type', 'batch.failed']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(20);
    expect(stderr).toContain('These are the first 20.');
    expect(await json<object[]>('events', 'list', '--type', 'batch.failed', '--limit', '3')).toHaveLength(3);
    const all = await json<{ data: { batch_id: string } }[]>(
      'events',
      'list',
      '--type',
      'batch.failed',
      '--all',
      '--order',
      'asc',
    );
    // Events of one millisecond have no order among them.
    expect(all.map(({ data }) => data.batch_id).sort()).toEqual(lines.map(({ data }) => data.batch_id).sort());
  });
});
