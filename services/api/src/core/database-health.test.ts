import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createAvailability, DatabaseUnavailableError } from './database-health.ts';

const never = () => new Promise<never>(() => undefined);

/** Timers turn by hand; `setImmediate` stays real, as the sockets do. */
function availabilityOf(ping: () => Promise<void>) {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  return createAvailability({ ping, clock: { now: Date.now, monotonic: () => performance.now() } });
}

afterEach(() => {
  jest.useRealTimers();
});

describe('work on the database', () => {
  it('is waited for, however slow, while the database answers', async () => {
    const { attend, close } = availabilityOf(async () => undefined);
    const work = Promise.withResolvers<string>();
    const outcome = attend(work.promise);
    await jest.advanceTimersByTimeAsync(20_000);
    work.resolve('done');
    expect(await outcome).toBe('done');
    close();
  });

  it('is given up within a second when the database does not answer', async () => {
    const { attend, close } = availabilityOf(never);
    const outcome = attend(never()).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(990);
    expect(await outcome).toBeInstanceOf(DatabaseUnavailableError);
    close();
  });

  it('fails with its own error when it fails by itself', async () => {
    const { attend, close } = availabilityOf(never);
    await expect(attend(Promise.reject(new Error('own')))).rejects.toThrow('own');
    close();
  });
});

describe('the check', () => {
  it('asks once for all who ask at the same time', async () => {
    let pings = 0;
    const { check } = availabilityOf(async () => {
      pings++;
    });
    expect(await Promise.all([check(), check()])).toEqual([true, true]);
    expect(pings).toBe(1);
  });

  it('is false when the ping fails', async () => {
    const { check } = availabilityOf(() => Promise.reject(new Error('refused')));
    expect(await check()).toBe(false);
  });
});
