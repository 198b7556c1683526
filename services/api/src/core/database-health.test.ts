import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createDatabaseHealth, DatabaseUnavailableError } from './database-health.ts';

const never = () => new Promise<never>(() => undefined);

/** The test moves the timers; `setImmediate` stays real, like sockets. */
function databaseHealthOf(probe: () => Promise<void>) {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  return createDatabaseHealth(probe);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The limit of the probe counts two turns of the event loop more. */
async function advance(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
  for (let turns = 0; turns < 4; turns++) await turn();
}

afterEach(() => {
  jest.useRealTimers();
});

describe('work on the database', () => {
  it('is waited for, however slow it is, while the database answers', async () => {
    const { withDatabaseCheck } = databaseHealthOf(async () => undefined);
    const abandon = new AbortController();
    const work = Promise.withResolvers<string>();
    const outcome = withDatabaseCheck(work.promise, abandon);
    await advance(20_000);
    work.resolve('done');
    expect(await outcome).toBe('done');
    expect(abandon.signal.aborted).toBe(false);
  });

  it('is 503 well within a second when the database does not answer, and can see it', async () => {
    const { withDatabaseCheck } = databaseHealthOf(never);
    const abandon = new AbortController();
    const outcome = withDatabaseCheck(never(), abandon).catch((error: unknown) => error);
    await advance(720);
    expect(await outcome).toBeInstanceOf(DatabaseUnavailableError);
    expect(abandon.signal.reason).toBe(await outcome);
  });

  it('is 503 when the database stops answering later', async () => {
    let probe = async () => undefined;
    const { withDatabaseCheck } = databaseHealthOf(() => probe());
    const outcome = withDatabaseCheck(never()).catch((error: unknown) => error);
    await advance(5_000);
    probe = never;
    await advance(920);
    expect(await outcome).toBeInstanceOf(DatabaseUnavailableError);
  });

  it('fails with its own error when it fails by itself', async () => {
    const { withDatabaseCheck } = databaseHealthOf(never);
    await expect(withDatabaseCheck(Promise.reject(new Error('own')))).rejects.toThrow('own');
  });
});

describe('the check', () => {
  it('asks once for all simultaneous calls', async () => {
    let questions = 0;
    const { check } = databaseHealthOf(async () => {
      questions++;
    });
    expect(await Promise.all([check(), check()])).toEqual([true, true]);
    expect(questions).toBe(1);
  });

  it('is false when the probe fails', async () => {
    const { check } = databaseHealthOf(() => Promise.reject(new Error('refused')));
    expect(await check()).toBe(false);
  });

  it('is true when the database answered while this process did not run', async () => {
    const { check } = createDatabaseHealth(() => turn() as Promise<void>);
    const answers = check();
    const blockedUntil = performance.now() + 600;
    while (performance.now() < blockedUntil);
    expect(await answers).toBe(true);
  });
});
