import { createLoop, type Loop, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';

/** What operators hold back, as far as this process knows. */
export interface KnownPauses {
  readonly isAllPaused: boolean;
  /** Organizations that are paused by themselves. */
  readonly organizationIds: readonly Uuid[];
  /** Whether nothing of this organization may be sent now. */
  isPaused(organizationId: Uuid): boolean;
}

export interface SendingPausesOptions {
  /** The organizations whose deliveries are held back; the nil UUID stands for everybody. */
  read: () => Promise<Uuid[]>;
  onError: (error: unknown) => void;
}

interface Listeners {
  /** Something is paused that was not before. */
  paused(): void;
  /** Something may be sent that was not before. */
  resumed(): void;
}

/** Every process acts on a pause within 5 s, also when no notification of it arrives. */
const readEveryMs = 2_000;
const delayAfterErrorMs = 500;

/** Knows which deliveries operators hold back: read from the ledger at start, at every change, and every two seconds. */
export class SendingPauses implements KnownPauses {
  readonly #options: SendingPausesOptions;
  readonly #loop: Loop;
  #listeners: Listeners | undefined;
  #isAllPaused = false;
  #organizations: ReadonlySet<Uuid> = new Set();

  constructor(options: SendingPausesOptions) {
    this.#options = options;
    const run = () => this.load().then(() => readEveryMs);
    this.#loop = createLoop({ run, onError: options.onError, delayAfterErrorMs });
  }

  get isAllPaused(): boolean {
    return this.#isAllPaused;
  }

  get organizationIds(): readonly Uuid[] {
    return [...this.#organizations];
  }

  isPaused(organizationId: Uuid): boolean {
    return this.#isAllPaused || (this.#organizations.size > 0 && this.#organizations.has(organizationId));
  }

  /** Connects what acts on changes. Called once, before the first lease. */
  connect(listeners: Listeners): void {
    this.#listeners = listeners;
  }

  /**
   * Reads what is paused. A process that starts does so before it leases anything.
   *
   * @throws when the database does not answer
   */
  async load(): Promise<void> {
    const organizations = new Set(await this.#options.read());
    const isAllPaused = organizations.delete(nilUuid);
    const before = { isAllPaused: this.#isAllPaused, organizations: this.#organizations };
    this.#isAllPaused = isAllPaused;
    this.#organizations = organizations;
    if (begins(before, { isAllPaused, organizations })) this.#listeners?.paused();
    if (begins({ isAllPaused, organizations }, before)) this.#listeners?.resumed();
  }

  start(): void {
    this.#loop.start();
  }

  /** Something was paused or resumed, or may have been: looks now. */
  wake(): void {
    this.#loop.wake();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }
}

interface Paused {
  isAllPaused: boolean;
  organizations: ReadonlySet<Uuid>;
}

/** Whether the second has a pause that the first has not. */
function begins(before: Paused, after: Paused): boolean {
  return (
    (after.isAllPaused && !before.isAllPaused) || [...after.organizations].some((id) => !before.organizations.has(id))
  );
}
