import type { ProcessExit } from './guarded-process.ts';
import type { ServiceProcess } from './service.ts';

/** When a process was taken away, and which. */
export interface Kill {
  pid: number;
  /** Milliseconds since 1970. */
  at: number;
  signal: NodeJS.Signals;
}

/**
 * A number of like processes, each replaced when it ends, as under a supervisor. `await using`: else a test that fails
 * half way leaves one that goes on replacing.
 */
export interface Fleet extends AsyncDisposable {
  /** Those that are there now; a place whose process is just being replaced still shows the old one. */
  readonly members: readonly ServiceProcess[];
  readonly kills: readonly Kill[];
  /** Ends of members, with those that nobody asked for; pid 0 for one that ended before it was ready. */
  readonly exits: readonly (ProcessExit & { pid: number })[];
  /** SIGKILL, as when the machine dies; resolves when the successor is ready. */
  crash(place: number): Promise<void>;
  /** SIGTERM, as in a deployment; resolves when it has ended and its successor is ready. */
  replace(place: number): Promise<ProcessExit>;
  /** SIGTERM to all, and no successors. */
  stop(): Promise<ProcessExit[]>;
}

const startsTried = 5;

/**
 * Starts `size` processes and keeps that many alive.
 *
 * @param start starts one, ready to work
 */
export async function startFleet(size: number, start: () => Promise<ServiceProcess>): Promise<Fleet> {
  const kills: Kill[] = [];
  const exits: (ProcessExit & { pid: number })[] = [];
  const successors = new Map<number, Promise<void>>();
  let stopping = false;
  const members: ServiceProcess[] = [];
  const startSuccessor = async (): Promise<ServiceProcess> => {
    for (let failures = 1; ; failures++) {
      try {
        return await start();
      } catch (error) {
        // What killed its predecessor may kill it before it was ready: a supervisor tries again.
        exits.push({ pid: 0, code: null, signal: null });
        if (stopping || failures === startsTried) throw error;
      }
    }
  };
  const fill = async (place: number, begin: () => Promise<ServiceProcess>): Promise<void> => {
    const member = await begin();
    members[place] = member;
    if (stopping) return void (await member.stop());
    const replaced = member.exited.then(async (exit) => {
      exits.push({ pid: member.pid, ...exit });
      if (!stopping) await fill(place, startSuccessor);
    });
    // Whoever waits for the successor hears of its failure; nobody may be waiting.
    replaced.catch(() => undefined);
    successors.set(member.pid, replaced);
  };
  const memberAt = (place: number): ServiceProcess => {
    const member = members[place];
    if (!member) throw new Error(`The fleet has no place ${place}.`);
    return member;
  };
  const stop = async () => {
    stopping = true;
    const ends = await Promise.all(members.map((member) => member.stop()));
    // A successor that was just starting is stopped as well.
    await Promise.allSettled(successors.values());
    return ends;
  };
  await Promise.all(Array.from({ length: size }, (_, place) => fill(place, start)));
  return {
    members,
    kills,
    exits,
    crash: async (place) => {
      const member = memberAt(place);
      member.kill('SIGKILL');
      kills.push({ pid: member.pid, at: Date.now(), signal: 'SIGKILL' });
      await successors.get(member.pid);
    },
    replace: async (place) => {
      const member = memberAt(place);
      const exit = await member.stop();
      await successors.get(member.pid);
      return exit;
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
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
