import type { Change } from '@enterprise-api/shared/ledger';
import type { Clock } from '@enterprise-api/shared/runtime';
import type { StoredKey } from './queries.ts';

/**
 * Keys by their hash, as the database had them a moment ago. A change that is pushed takes effect at once; one whose
 * push is lost, after 4 s, so that it is in force within 5 s on a busy machine too. That a key does not exist is
 * remembered for 1 s only: a new key must work by then.
 */
export interface KeyCache {
  /** What is known without asking: a key, null for none, undefined when nothing fresh is known. */
  peek(hash: string): StoredKey | null | undefined;
  /**
   * Asks the database, once for all who ask at the same time.
   *
   * @param readOnly while the database is away, a key that was good within the last minute goes on for reading
   * @throws the database's error
   */
  load(hash: string, readOnly: boolean): Promise<StoredKey | null>;
  onChange(change: Change): void;
  /** Changes may have been missed: nothing known counts as fresh any more. */
  onLost(): void;
}

export interface KeyCacheOptions {
  find: (hash: Buffer) => Promise<StoredKey | null>;
  clock: Clock;
  maxEntries?: number;
}

interface Entry {
  key: StoredKey | null;
  /** Monotonic, from before the question was sent. */
  askedAtMs: number;
  fresh: boolean;
}

/** A question that is out, and what has changed since it was asked. */
interface Question {
  answer: Promise<StoredKey | null>;
  readonly changedIds: Set<string>;
  lost: boolean;
}

const keyLivesMs = 4_000;
const absenceLivesMs = 1_000;
const keyReadsOnMs = 60_000;

export function createKeyCache({ find, clock, maxEntries = 20_000 }: KeyCacheOptions): KeyCache {
  const entries = new Map<string, Entry>();
  const questions = new Map<string, Question>();

  const ageOf = (entry: Entry) => clock.monotonic() - entry.askedAtMs;
  const remember = (hash: string, entry: Entry) => {
    entries.delete(hash);
    entries.set(hash, entry);
    const [oldest] = entries.size > maxEntries ? entries.keys() : [];
    if (oldest !== undefined) entries.delete(oldest);
  };
  const ask = async (hash: string, question: Question): Promise<StoredKey | null> => {
    const askedAtMs = clock.monotonic();
    const key = await find(Buffer.from(hash, 'hex'));
    // A change that came while we asked may or may not be in the answer: good for this request, not for the next.
    if (!isOvertaken(question, key)) remember(hash, { key, askedAtMs, fresh: true });
    return key;
  };
  const goesOn = (hash: string): StoredKey | null => {
    const entry = entries.get(hash);
    return entry !== undefined && ageOf(entry) < keyReadsOnMs ? entry.key : null;
  };
  const load = (hash: string): Promise<StoredKey | null> => {
    const asked = questions.get(hash);
    if (asked !== undefined) return asked.answer;
    const question: Question = { answer: Promise.resolve(null), changedIds: new Set(), lost: false };
    questions.set(hash, question);
    question.answer = ask(hash, question).finally(() => questions.delete(hash));
    return question.answer;
  };
  return {
    peek: (hash) => {
      const entry = entries.get(hash);
      if (entry === undefined || !entry.fresh) return undefined;
      return ageOf(entry) < (entry.key === null ? absenceLivesMs : keyLivesMs) ? entry.key : undefined;
    },
    load: async (hash, readOnly) => {
      try {
        return await load(hash);
      } catch (error) {
        const known = readOnly ? goesOn(hash) : null;
        if (known === null) throw error;
        return known;
      }
    },
    onChange: (change) => {
      if (change.kind === 'webhook') return;
      for (const question of questions.values()) question.changedIds.add(change.id);
      for (const [hash, { key }] of entries) {
        if (key === null || key.id === change.id || key.organization.id === change.id) entries.delete(hash);
      }
    },
    onLost: () => {
      for (const question of questions.values()) question.lost = true;
      for (const entry of entries.values()) entry.fresh = false;
    },
  };
}

function isOvertaken({ lost, changedIds }: Question, key: StoredKey | null): boolean {
  if (lost || key === null) return lost || changedIds.size > 0;
  return changedIds.has(key.id) || changedIds.has(key.organization.id);
}
