/**
 * A campaign loads this into a process with --import. Its wall clock is wrong by `WRONG_CLOCK_MS`, as on a machine that
 * lost its time server; the monotonic clock is right. The product has no hook for it.
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
