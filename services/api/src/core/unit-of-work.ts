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
import { type Logger, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { isProblem } from '../http/problem.ts';
import { currentSignal } from './database-health.ts';
import { type FieldChanges, noFieldChanges } from './field-changes.ts';

interface Origin {
  readonly actor: string;
  readonly onBehalfOf: string | null;
  readonly requestId: string;
}

/** Ids are UUIDs; null for an action that concerns everybody. */
interface ReportedAction {
  action: AuditAction;
  objectId: string | null;
  organizationId: string | null;
}

/**
 * The transaction of a request. Every statement of the work must use `trx`. A statement on another connection would
 * neither be rolled back with the rest nor see its writes. The request would also need a second connection.
 */
interface UnitOfWork {
  readonly trx: DatabaseTransaction;
  /** The organization of the first action that was written into the audit log so far. */
  organizationId(): Uuid | null;
  /** Writes the change into the audit log. After the commit, logs the change and notifies other processes. */
  changed(change: ReportedAction & FieldChanges): Promise<void>;
  /**
   * Writes an action that changes no organization, key or webhook into the audit log. After the commit, logs the
   * action.
   */
  acted(action: ReportedAction): Promise<void>;
  /**
   * Notifies workers after the commit that deliveries of this webhook (UUID) are due. Sends the same notification as a
   * change of the webhook.
   */
  due(webhookId: string): void;
  /** Call for events written through `trx`. After the commit, counts these events and notifies workers. */
  emitted(events: readonly WrittenEvent[]): void;
  /** Runs a part of the work. If it ends in a problem, only this part is rolled back. */
  readonly part: Transact;
}

/** Runs work in one transaction. An error or a problem rolls it back. */
export type Transact = <Result>(work: (unit: UnitOfWork) => Promise<Result>) => Promise<Result>;

export type TransactAs = (origin: Origin) => Transact;

export interface TransactOptions {
  db: Database;
  log: Logger;
  notify: (change: Change) => Promise<void>;
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

interface CommittedChange {
  events?: readonly WrittenEvent[];
  change?: Change;
  entry?: NewAuditEntry;
}

function createUnit(trx: DatabaseTransaction, origin: Origin, changes: CommittedChange[]): UnitOfWork {
  const unit: UnitOfWork = {
    trx,
    organizationId: () => changes.find(({ entry }) => entry !== undefined)?.entry?.organizationId ?? null,
    changed: async (reported) => {
      const entry = { ...reported, ...origin };
      await writeAuditEntry(trx, entry);
      const kind = auditObjectType(entry.action);
      changes.push(
        kind === 'delivery' || kind === 'event' || kind === 'erasure' || kind === 'replay'
          ? { entry }
          : { change: { kind, id: entry.objectId ?? nilUuid }, entry },
      );
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

async function runTransaction<Result>(
  db: Database,
  work: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  const trx = await db.startTransaction().execute();
  try {
    // Do not begin the work if PostgreSQL answered BEGIN only after the client got its 503.
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
