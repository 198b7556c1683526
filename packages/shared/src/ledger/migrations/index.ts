import type { Migration } from 'kysely/migration';
import * as ledger from './0001-ledger.ts';
import * as idempotencyAndAudit from './0002-idempotency-and-audit.ts';
import * as requestIds from './0003-request-ids.ts';
import * as historyIndexes from './0004-history-indexes.ts';
import * as outboxByOrganization from './0005-outbox-by-organization.ts';
import * as testsDue from './0006-tests-due.ts';
import * as deliveredAttempts from './0007-delivered-attempts.ts';
import * as narrowHistoryIndexes from './0008-narrow-history-indexes.ts';
import * as leaseCount from './0009-lease-count.ts';
import * as erasedSecrets from './0010-erased-secrets.ts';
import * as halfOpenProbes from './0011-half-open-probes.ts';
import * as usage from './0012-usage.ts';
import * as externalIds from './0013-external-ids.ts';
import * as auditValues from './0014-audit-values.ts';
import * as parkedEvents from './0017-parked-events.ts';
import * as eventPositions from './0018-event-positions.ts';
import * as eventNotesOnly from './0019-event-notes-only.ts';
import * as pendingDeliveries from './0020-pending-deliveries.ts';
import * as retention from './0021-retention.ts';
import * as lateDeliveries from './0022-late-deliveries.ts';
import * as sendingPauses from './0023-sending-pauses.ts';
import * as positionsAfterFailover from './0025-positions-after-a-failover.ts';
import * as traceContexts from './0026-trace-contexts.ts';

/** Every migration in order. Names are forever: a database remembers them. */
export const migrations: Record<string, Migration> = {
  '0001-ledger': ledger,
  '0002-idempotency-and-audit': idempotencyAndAudit,
  '0003-request-ids': requestIds,
  '0004-history-indexes': historyIndexes,
  '0005-outbox-by-organization': outboxByOrganization,
  '0006-tests-due': testsDue,
  '0007-delivered-attempts': deliveredAttempts,
  '0008-narrow-history-indexes': narrowHistoryIndexes,
  '0009-lease-count': leaseCount,
  '0010-erased-secrets': erasedSecrets,
  '0011-half-open-probes': halfOpenProbes,
  '0012-usage': usage,
  '0013-external-ids': externalIds,
  '0014-audit-values': auditValues,
  '0017-parked-events': parkedEvents,
  '0018-event-positions': eventPositions,
  '0019-event-notes-only': eventNotesOnly,
  '0020-pending-deliveries': pendingDeliveries,
  '0021-retention': retention,
  '0022-late-deliveries': lateDeliveries,
  '0023-sending-pauses': sendingPauses,
  '0025-positions-after-a-failover': positionsAfterFailover,
  '0026-trace-contexts': traceContexts,
};
