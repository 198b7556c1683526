import { RoundRobin } from '../runtime/round-robin.ts';
import type { NewEvent, WrittenEvent } from './write-events.ts';

/** Joins the events of many callers into few statements. */
export interface Batches {
  /**
   * Resolves with an entry per event when all of them are committed; rejects when none is.
   *
   * @param signal asked before each statement: events whose caller was answered meanwhile are not sent
   */
  write(events: NewEvent[], signal?: AbortSignal): Promise<WrittenEvent[]>;
}

/** Writes events in one statement. */
type Write = (events: NewEvent[]) => Promise<WrittenEvent[]>;

/** The events of one caller, which are never split. */
interface Group extends PromiseWithResolvers<WrittenEvent[]> {
  events: NewEvent[];
  signal: AbortSignal | undefined;
}

/** A statement writes about this many events. */
const eventsPerStatement = 200;
const maxStatements = 2;
/** A group of more events than this has a statement of its own, which takes long: the small ones do not wait for its end. */
const smallGroup = eventsPerStatement / 2;
/** Statements of large groups that run at once. The other ones are for small groups. */
const maxLargeStatements = 1;

/**
 * The events of one turn of the event loop share a statement: 20,000 events/s were measured, and 9,600 with a statement
 * per event. When a shared statement fails, each caller's events are written alone, so that no caller fails for the
 * event of another.
 *
 * Organizations are served in turn. One that emits a hundred thousand events, in requests of a thousand each, held up the
 * others for more than a second: they waited for both statements, and then shared a statement with a thousand events.
 */
export function createBatches(write: Write): Batches {
  const waiting = new RoundRobin<Group>();
  const running = { all: 0, large: 0 };
  let isScheduled = false;
  const run = async (groups: Group[]): Promise<void> => {
    const large = groups.some(isLarge) ? 1 : 0;
    running.all += 1;
    running.large += large;
    await writeTogether(write, groups).finally(() => {
      running.all -= 1;
      running.large -= large;
    });
    startAll();
  };
  const startAll = () => {
    while (running.all < maxStatements) {
      const groups = takeGroups(waiting, running.large < maxLargeStatements);
      if (groups.length === 0) return;
      void run(groups);
    }
  };
  return {
    write: (events, signal) => {
      const group = { events, signal, ...Promise.withResolvers<WrittenEvent[]>() };
      waiting.add(ownerOf(group), group);
      if (!isScheduled) {
        isScheduled = true;
        setImmediate(() => {
          isScheduled = false;
          startAll();
        });
      }
      return group.promise;
    },
  };
}

function isLarge({ events }: Group): boolean {
  return events.length > smallGroup;
}

/** Whose turn a group takes. Of a group with events of several organizations, the first one's. */
function ownerOf({ events }: Group): string {
  return events[0]?.organizationId ?? '';
}

/** The groups of the next statement: small ones together, or one large group. */
function takeGroups(waiting: RoundRobin<Group>, mayBeLarge: boolean): Group[] {
  const first = waiting.take((group) => mayBeLarge || !isLarge(group));
  if (first === undefined) return [];
  if (isLarge(first)) return [first];
  const groups = [first];
  let left = eventsPerStatement - first.events.length;
  while (left > 0) {
    const next = waiting.take((group) => !isLarge(group));
    if (next === undefined) break;
    groups.push(next);
    left -= next.events.length;
  }
  return groups;
}

async function writeTogether(write: Write, all: Group[]): Promise<void> {
  const groups = all.filter((group) => !isAbandoned(group));
  const [only] = groups;
  if (only === undefined) return;
  if (groups.length === 1) return writeAlone(write, only);
  let written: WrittenEvent[];
  try {
    written = await write(groups.flatMap((group) => group.events));
  } catch {
    for (const group of groups) await writeAlone(write, group);
    return;
  }
  let start = 0;
  for (const group of groups) {
    group.resolve(written.slice(start, start + group.events.length));
    start += group.events.length;
  }
}

async function writeAlone(write: Write, group: Group): Promise<void> {
  if (isAbandoned(group)) return;
  try {
    group.resolve(await write(group.events));
  } catch (error) {
    group.reject(error);
  }
}

/** Rejects a group whose caller was answered meanwhile: none of its events is written. */
function isAbandoned({ signal, reject }: Group): boolean {
  if (!signal?.aborted) return false;
  reject(signal.reason);
  return true;
}
