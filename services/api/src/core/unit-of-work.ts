import { type AuditAction, type AuditObjectType, auditObjectType } from '@enterprise-api/shared/contracts';
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
import type { Logger } from '@enterprise-api/shared/runtime';
import { isProblem, type Problem } from './problem.ts';

/** Whose request it is that changes something: what the audit log says of it. */
export interface Origin {
  readonly actor: string;
  readonly requestId: string;
}

/** A change of an organization, a key or a webhook, as its service reports it. Ids are UUIDs. */
interface ReportedChange {
  action: AuditAction;
  objectId: string;
  organizationId: string;
  changedFields: readonly string[];
}

/**
 * The transaction of a request. Every statement of the work goes through `trx`: it may be all that the request has of
 * the pool, and what went around it would neither be undone nor see what was done.
 */
interface UnitOfWork {
  readonly trx: DatabaseTransaction;
  /** Enters the change into the audit log. It is logged, and other processes hear of it, once it is committed. */
  changed(change: ReportedChange): Promise<void>;
  /** Deliveries of this webhook (UUID) are due: once that is committed, workers hear of it as of a change of the webhook. */
  due(webhookId: string): void;
  /** Runs a part of the work that is undone by itself, as a whole one would be. */
  readonly part: Transact;
}

/** Runs work in one transaction. What ends in an error, or in a problem, has changed nothing. */
export type Transact = <Result>(work: (unit: UnitOfWork) => Promise<Result>) => Promise<Result>;

export interface TransactOptions {
  db: Database;
  log: Logger;
  /** Tells every process that something it may have a copy of has changed. */
  announce: (change: Change) => Promise<void>;
}

export function createTransact({ db, log, announce }: TransactOptions): (origin: Origin) => Transact {
  const report = async ({ change, entry }: Done) => {
    if (entry !== undefined) log.info(auditLogFields(entry), 'audit');
    await announce(change);
  };
  return (origin) => async (work) => {
    const done: Done[] = [];
    const result = await commitUnlessProblem(db, (trx) => work(createUnit(trx, origin, done)));
    if (!isProblem(result)) await Promise.all(done.map(report));
    return result;
  };
}

/** What others are to hear of after the commit, and the audit log's entry of it. */
interface Done {
  change: Change;
  entry?: NewAuditEntry;
}

function createUnit(trx: DatabaseTransaction, origin: Origin, done: Done[]): UnitOfWork {
  const unit: UnitOfWork = {
    trx,
    changed: async (reported) => {
      const entry = { ...reported, ...origin };
      await writeAuditEntry(trx, entry);
      const kind = auditObjectType(entry.action) satisfies AuditObjectType;
      done.push({ change: { kind, id: entry.objectId }, entry });
    },
    due: (webhookId) => {
      done.push({ change: { kind: 'webhook', id: webhookId } });
    },
    part: async (work) => {
      const before = done.length;
      await markSavepoint(trx);
      const result = await work(unit);
      if (isProblem(result)) {
        await returnToSavepoint(trx);
        done.length = before;
      }
      return result;
    },
  };
  return unit;
}

async function commitUnlessProblem<Result>(
  db: Database,
  work: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  let refused: (Result & Problem) | undefined;
  const refuse = new Error('rolled back');
  try {
    return await db.transaction().execute(async (trx) => {
      const result = await work(trx);
      if (!isProblem(result)) return result;
      refused = result;
      throw refuse;
    });
  } catch (error) {
    if (error === refuse && refused !== undefined) return refused;
    throw error;
  }
}
