export interface Clock {
  /** Wall clock, milliseconds since 1970: for times that people read. */
  now(): number;
  /** Monotonic clock, milliseconds: for every duration and deadline. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
