import {
  type HealthState,
  hintOf,
  type WebhookHealth,
  type WebhookHealthSummary,
} from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';
import { type Cause, type HealthFacts, listCauses, readHealth } from './health-queries.ts';
import { presentWebhook } from './present.ts';
import { findWebhook, listWebhooks, type WebhookRow } from './queries.ts';
import { endOfMinute, spansOf, type TimeSpan } from './time-spans.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const failuresOfFailing = 3;
const degradedShare = 0.05;

export interface WebhookHealthOptions {
  db: Database;
  clock: Pick<Clock, 'now'>;
  cursors: Cursors;
}

export type WebhookHealthReader = ReturnType<typeof createWebhookHealth>;

export function createWebhookHealth({ db, clock, cursors }: WebhookHealthOptions) {
  return {
    get: async (organizationId: Uuid, id: Uuid): Promise<WebhookHealth | Problem> => {
      const row = await findWebhook(db, organizationId, id);
      if (row === undefined) return problem('not_found');
      const now = clock.now();
      const [facts] = await readHealth(db, [id], lastHours(1, now));
      if (facts === undefined) return problem('not_found');
      const causes = await listCauses(db, id, lastHours(24, now));
      return { ...present(row, facts, now), causes: causes.map(presentCause) };
    },

    list: (organizationId: Uuid, request: { cursor?: string | undefined; limit: number }) => {
      const now = clock.now();
      const ask = async (page: PageQuestion) => {
        const rows = await listWebhooks(db, organizationId, page, undefined);
        const facts = await readHealth(
          db,
          rows.map(({ id }) => id),
          lastHours(1, now),
        );
        const factsOf = new Map(facts.map((each) => [each.webhook_id, each]));
        return rows.flatMap((row) => {
          const found = factsOf.get(row.id);
          return found === undefined ? [] : [{ ...row, facts: found }];
        });
      };
      const scope = { list: 'webhook_health', organizationId, filters: {} };
      return paginate(cursors, request, scope, ask, (row) => present(row, row.facts, now));
    },
  };
}

/** Returns spans of whole minutes that cover at least the last `hours`. */
function lastHours(hours: number, now: number): TimeSpan[] {
  const until = endOfMinute(now);
  return spansOf(until - minuteMs - hours * hourMs, until);
}

function present(row: WebhookRow, facts: HealthFacts, now: number): WebhookHealthSummary {
  const { failing_since, disable_at, paused } = presentWebhook(row);
  const state = stateOf(row, facts, now);
  const sinceOf: Partial<Record<HealthState, string | null | undefined>> = {
    disabled: facts.disabled_at?.toISOString(),
    paused: paused?.since,
    failing: failing_since,
  };
  return {
    object: 'webhook_health',
    webhook_id: toPublicId('whk', row.id),
    state,
    since: sinceOf[state] ?? null,
    last_success_at: facts.last_success_at?.toISOString() ?? null,
    last_failure_at: facts.last_failure_at?.toISOString() ?? null,
    failing_since,
    disable_at,
    circuit: {
      state: facts.circuit,
      next_attempt_at: facts.circuit === 'open' ? (facts.open_until?.toISOString() ?? null) : null,
    },
    pending: facts.pending,
    oldest_pending_at: facts.oldest_pending_at?.toISOString() ?? null,
    oldest_waiting_for: facts.oldest_waiting_for,
  };
}

function stateOf(row: WebhookRow, facts: HealthFacts, now: number): HealthState {
  if (row.state !== 'enabled') return 'disabled';
  if (row.paused_since !== null) return 'paused';
  if (row.failing_since !== null && (row.failed_attempts ?? 0) >= failuresOfFailing) return 'failing';
  const failsOften = facts.hour_failed > 0 && facts.hour_failed >= degradedShare * facts.hour_attempts;
  if (row.failing_since !== null || failsOften || facts.circuit !== 'closed') return 'degraded';
  const last = Math.max(Number(facts.last_success_at), Number(facts.last_failure_at));
  return now - last > 24 * hourMs ? 'idle' : 'healthy';
}

function presentCause({ error, status_code, count, last_at, delivery_id }: Cause): WebhookHealth['causes'][number] {
  const delivery = toPublicId('dlv', delivery_id);
  const hint = hintOf(error, status_code);
  return { error, status_code, count, last_at: last_at.toISOString(), delivery_id: delivery, hint };
}
