import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createDatabaseHealth, DatabaseUnavailableError, type IsWanted } from './database-health.ts';

const never = () => new Promise<never>(() => undefined);

/** The test moves the timers; `setImmediate` stays real, like sockets. */
function databaseHealthOf(ping: () => Promise<void>) {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  return createDatabaseHealth({ ping, clock: { now: Date.now, monotonic: () => performance.now() } });
}

afterEach(() => {
  jest.useRealTimers();
});

describe('work on the database', () => {
  it('is waited for, however slow it is, while the database answers', async () => {
    const { withDatabaseCheck, close } = databaseHealthOf(async () => undefined);
    const work = Promise.withResolvers<string>();
    const outcome = withDatabaseCheck(() => work.promise);
    await jest.advanceTimersByTimeAsync(20_000);
    work.resolve('done');
    expect(await outcome).toBe('done');
    close();
  });

  it('is given up well within a second when the database does not answer', async () => {
    const { withDatabaseCheck, close } = databaseHealthOf(never);
    const outcome = withDatabaseCheck(never).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(760);
    expect(await outcome).toBeInstanceOf(DatabaseUnavailableError);
    close();
  });

  it('can see that its result is not wanted any more once it was given up', async () => {
    const { withDatabaseCheck, close } = databaseHealthOf(never);
    const end = Promise.withResolvers<void>();
    let isWanted = () => true;
    const outcome = withDatabaseCheck((asks) => {
      isWanted = asks;
      return end.promise;
    }).catch(() => 'given up');
    expect(isWanted()).toBe(true);
    await jest.advanceTimersByTimeAsync(990);
    expect(await outcome).toBe('given up');
    expect(isWanted()).toBe(false);
    end.resolve();
    close();
  });

  it('gets no 503 while its write may still be executed, and begins no further write then', async () => {
    const { withDatabaseCheck, close } = databaseHealthOf(never);
    const older = withDatabaseCheck(never).catch(() => 'given up');
    await jest.advanceTimersByTimeAsync(600);
    let isWanted: IsWanted = () => true;
    let outcome = 'waits';
    void withDatabaseCheck((asks) => {
      isWanted = asks;
      return never();
    }).catch(() => {
      outcome = 'given up';
    });
    expect(isWanted(850)).toBe(true);
    await jest.advanceTimersByTimeAsync(390);
    expect(await older).toBe('given up');
    expect(isWanted(850)).toBe(false);
    await jest.advanceTimersByTimeAsync(450);
    expect(outcome).toBe('waits');
    await jest.advanceTimersByTimeAsync(20);
    expect(outcome).toBe('given up');
    close();
  });

  it('fails with its 503 when it ends because it is not wanted any more, and not before its write is out of time', async () => {
    const { withDatabaseCheck, close } = databaseHealthOf(never);
    void withDatabaseCheck(never).catch(() => 'given up');
    await jest.advanceTimersByTimeAsync(600);
    const lost = Promise.withResolvers<never>();
    let outcome: unknown = 'waits';
    void withDatabaseCheck((isWanted) => {
      isWanted(600);
      return lost.promise;
    }).catch((error: unknown) => {
      outcome = error;
    });
    await jest.advanceTimersByTimeAsync(400);
    lost.reject(new Error('The caller stopped waiting.'));
    await jest.advanceTimersByTimeAsync(190);
    expect(outcome).toBe('waits');
    await jest.advanceTimersByTimeAsync(20);
    expect(outcome).toBeInstanceOf(DatabaseUnavailableError);
    close();
  });

  it('fails with its own error when it fails by itself', async () => {
    const { withDatabaseCheck, close } = databaseHealthOf(never);
    await expect(withDatabaseCheck(() => Promise.reject(new Error('own')))).rejects.toThrow('own');
    close();
  });
});

describe('the check', () => {
  it('pings once for all simultaneous calls', async () => {
    let pings = 0;
    const { check } = databaseHealthOf(async () => {
      pings++;
    });
    expect(await Promise.all([check(), check()])).toEqual([true, true]);
    expect(pings).toBe(1);
  });

  it('is false when the ping fails', async () => {
    const { check } = databaseHealthOf(() => Promise.reject(new Error('refused')));
    expect(await check()).toBe(false);
  });

  it('is true when the database answers in time, but for the time in which this process did not run', async () => {
    const ping = async () => {
      for (let roundTrip = 0; roundTrip < 5; roundTrip++) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const { check } = createDatabaseHealth({ ping, clock: { now: Date.now, monotonic: () => performance.now() } });
    const answers = check();
    const blockedUntil = performance.now() + 600;
    while (performance.now() < blockedUntil);
    expect(await answers).toBe(true);
  });
});
