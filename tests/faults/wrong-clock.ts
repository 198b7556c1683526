/**
 * Loaded into a process with --import, by a test: its wall clock is off by `WRONG_CLOCK_MS`, as on a machine that lost
 * its time server. The monotonic clock runs as before. The product knows nothing of it.
 */
const offset = Number(process.env.WRONG_CLOCK_MS);
const RightDate = Date;

globalThis.Date = class extends RightDate {
  constructor(...parts: unknown[]) {
    if (parts.length === 0) super(RightDate.now() + offset);
    else super(...(parts as [number]));
  }

  static override now(): number {
    return RightDate.now() + offset;
  }
} as DateConstructor;
