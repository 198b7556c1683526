import type { ProcessExit } from './guarded-process.ts';
import type { ServiceProcess } from './service.ts';

/** When a process was killed, and which. */
export interface Kill {
  pid: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** How a member ended; pid 0: it ended before it was ready. */
export type MemberExit = ProcessExit & { pid: number };

/**
 * Starts `size` like processes and replaces each that ends, as a supervisor does. With `await using`, a test that fails
 * half way does not leave a fleet behind that goes on replacing.
 *
 * @param start starts one, ready to work
 */
export async function startFleet(size: number, start: () => Promise<ServiceProcess>): Promise<Fleet> {
  const fleet = new Fleet(start);
  await Promise.all(Array.from({ length: size }, (_, place) => fleet.fill(place)));
  return fleet;
}

const startsTried = 5;

export class Fleet implements AsyncDisposable {
  /** The processes by place. While a process is replaced, its place still shows the old one. */
  readonly members: ServiceProcess[] = [];
  readonly kills: Kill[] = [];
  /** How members ended, also where no test asked for it. */
  readonly exits: MemberExit[] = [];
  readonly #start: () => Promise<ServiceProcess>;
  readonly #successors = new Map<number, Promise<void>>();
  #isStopping = false;

  constructor(start: () => Promise<ServiceProcess>) {
    this.#start = start;
  }

  /** Starts a process for a place, and another one whenever it ends. */
  async fill(place: number, start = this.#start): Promise<void> {
    const member = await start();
    this.members[place] = member;
    if (this.#isStopping) return void (await member.stop());
    const replaced = member.exited.then(async (exit) => {
      this.exits.push({ pid: member.pid, ...exit });
      if (!this.#isStopping) await this.fill(place, () => this.#startSuccessor());
    });
    // Callers that wait for the successor get the failure. Without a caller it would be an unhandled rejection.
    replaced.catch(() => undefined);
    this.#successors.set(member.pid, replaced);
  }

  /** SIGKILL, as when the machine dies; resolves when the successor is ready. */
  async crash(place: number): Promise<void> {
    const member = this.#memberAt(place);
    member.kill('SIGKILL');
    this.kills.push({ pid: member.pid, at: Date.now() });
    await this.#successors.get(member.pid);
  }

  /** SIGTERM, as in a deployment; resolves when it has ended and its successor is ready. */
  async replace(place: number): Promise<ProcessExit> {
    const member = this.#memberAt(place);
    const exit = await member.stop();
    await this.#successors.get(member.pid);
    return exit;
  }

  /** SIGTERM to all, and no successors. */
  async stop(): Promise<ProcessExit[]> {
    this.#isStopping = true;
    const exits = await Promise.all(this.members.map((member) => member.stop()));
    // A successor that was just starting is stopped as well.
    await Promise.allSettled(this.#successors.values());
    return exits;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** A successor may die of the same cause before it is ready. Like a supervisor, this then tries again. */
  async #startSuccessor(): Promise<ServiceProcess> {
    for (let failures = 1; ; failures++) {
      try {
        return await this.#start();
      } catch (error) {
        this.exits.push({ pid: 0, code: null, signal: null });
        if (this.#isStopping || failures === startsTried) throw error;
      }
    }
  }

  #memberAt(place: number): ServiceProcess {
    const member = this.members[place];
    if (!member) throw new Error(`The fleet has no place ${place}.`);
    return member;
  }
}

/** SIGSTOP for a while, as when a machine is suspended; resolves when the process runs again. */
export async function suspend(process: Pick<ServiceProcess, 'kill'>, meanwhile: () => Promise<void>): Promise<void> {
  process.kill('SIGSTOP');
  try {
    await meanwhile();
  } finally {
    process.kill('SIGCONT');
  }
}
