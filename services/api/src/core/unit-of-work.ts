import { type AuditAction, auditObjectType } from '@enterprise-api/shared/contracts';
import type { WrittenEvent } from '@enterprise-api/shared/events';
import {
  auditLogFields,
  type Change,
  type Database,
  type DatabaseTransaction,
  markSavepoint,
  type NewAuditEntry,
  returnToSavepoint,
  writeAuditEntry,
} from '@enterprise-api/shared/ledger';
import { type Logger, nilUuid } from '@enterprise-api/shared/runtime';
import { isProblem } from '../http/problem.ts';
import { currentSignal } from './database-health.ts';
import { type FieldChanges, noFieldChanges } from './field-changes.ts';

/** The request that changes something, as the audit log names it. */
interface Origin {
  readonly actor: string;
  readonly onBehalfOf: string | null;
  readonly requestId: string;
}

/** An action, as its service reports it. Ids are UUIDs; null of what concerns everybody. */
interface ReportedAction {
  action: AuditAction;
  objectId: string | null;
  organizationId: string | null;
}

/**
 * The transaction of a request. Every statement of the work goes through `trx`: a statement on another connection would
 * neither be rolled back with the rest nor see what the rest has written, and the request holds one connection already.
 */
interface UnitOfWork {
  readonly trx: DatabaseTransaction;
  /** Writes the change into the audit log. It is logged, and other processes are notified, after the commit. */
  changed(change: ReportedAction & FieldChanges): Promise<void>;
  /** Writes an action that changes no organization, key or webhook into the audit log. It is logged after the commit. */
  acted(action: ReportedAction): Promise<void>;
  /** Deliveries of this webhook (UUID) are due: workers are notified after the commit, in the same way as of a change of the webhook. */
  due(webhookId: string): void;
  /** Events were written through `trx`: they are counted, and workers are notified of them, after the commit. */
  emitted(events: readonly WrittenEvent[]): void;
  /** Runs a part of the work, which is rolled back by itself when it ends in a problem. */
  readonly part: Transact;
}

/** Runs work in one transaction. Work that ends in an error or in a problem changes nothing. */
export type Transact = <Result>(work: (unit: UnitOfWork) => Promise<Result>) => Promise<Result>;

/** Makes the transactions of one request. */
export type TransactAs = (origin: Origin) => Transact;

export interface TransactOptions {
  db: Database;
  log: Logger;
  /** Tells every process that it may hold an outdated copy of something. */
  notify: (change: Change) => Promise<void>;
  /** Counts events that were committed, and wakes the workers for them. */
  onEmitted: (events: readonly WrittenEvent[]) => void;
}

export function createTransact({ db, log, notify, onEmitted }: TransactOptions): TransactAs {
  const report = async ({ change, entry, events }: CommittedChange) => {
    if (entry !== undefined) log.info(auditLogFields(entry), 'audit');
    if (change !== undefined) await notify(change);
    if (events !== undefined) onEmitted(events);
  };
  return (origin) => async (work) => {
    const changes: CommittedChange[] = [];
    const result = await runTransaction(db, (trx) => work(createUnit(trx, origin, changes)));
    if (!isProblem(result)) await Promise.all(changes.map(report));
    return result;
  };
}

/** What is reported after the commit: to other processes, to the log, to the workers. */
interface CommittedChange {
  events?: readonly WrittenEvent[];
  change?: Change;
  entry?: NewAuditEntry;
}

function createUnit(trx: DatabaseTransaction, origin: Origin, changes: CommittedChange[]): UnitOfWork {
  const unit: UnitOfWork = {
    trx,
    changed: async (reported) => {
      const entry = { ...reported, ...origin };
      await writeAuditEntry(trx, entry);
      const kind = auditObjectType(entry.action);
      changes.push(kind === 'delivery' ? { entry } : { change: { kind, id: entry.objectId ?? nilUuid }, entry });
    },
    acted: async (reported) => {
      const entry = { ...reported, ...noFieldChanges, ...origin };
      await writeAuditEntry(trx, entry);
      changes.push({ entry });
    },
    due: (webhookId) => {
      changes.push({ change: { kind: 'webhook', id: webhookId } });
    },
    emitted: (events) => {
      changes.push({ events });
    },
    part: async (work) => {
      const before = changes.length;
      await markSavepoint(trx);
      const result = await work(unit);
      if (isProblem(result)) {
        await returnToSavepoint(trx);
        changes.length = before;
      }
      return result;
    },
  };
  return unit;
}

/** Runs work in one transaction. It is rolled back when the work fails, and when its result is a problem. */
async function runTransaction<Result>(
  db: Database,
  work: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  const trx = await db.startTransaction().execute();
  try {
    // BEGIN may be answered only after the client was: 503.
    currentSignal()?.throwIfAborted();
    const result = await work(trx);
    await (isProblem(result) ? trx.rollback() : trx.commit()).execute();
    return result;
  } catch (error) {
    await trx
      .rollback()
      .execute()
      .catch(() => undefined);
    throw error;
  }
}
