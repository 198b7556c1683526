import { hash } from 'node:crypto';
import { errorCatalogue } from '@enterprise-api/shared/contracts';
import { type SecretBox, SecretUnavailableError } from '@enterprise-api/shared/security';
import { isProblem, type Problem, problem } from '../core/problem.ts';
import type { Answer } from '../http/routing/respond.ts';
import type { IdempotentRequest, RunOnce } from '../http/routing/serve-routes.ts';
import { findAnswer, type NewAnswerRow, type StoredAnswerRow, saveAnswer, tryLock } from './queries.ts';

/**
 * Requests with an `Idempotency-Key` (contract, section 3). The answer is written in the transaction of the effect:
 * either both are there or neither is, and a client that heard nothing may ask again. That a request is still running
 * is a lock of the same transaction and not a row, so that there is nothing to clean up after a crash.
 *
 * A key belongs to its organization, and to one method and path. Not to the API key: whoever replaces that while trying
 * again must not do things twice. All answers are encrypted, those with a secret like the others.
 */
export function createRunOnce(box: SecretBox): RunOnce {
  return (request, transact, run, render) => {
    const id = idOf(request);
    return transact(async (unit) => {
      if (!(await tryLock(unit.trx, id))) return problem('idempotency_in_progress');
      const stored = await findAnswer(unit.trx, id);
      if (stored?.fingerprint.equals(request.fingerprint)) return replay(stored, contextOf(request, id), box);
      if (stored !== undefined && !request.namesObject) return problem('idempotency_key_reused');
      const outcome = await run(unit.part);
      // 404 comes before 422, and only the handler knows: so it was asked, and whatever it did is undone.
      if (stored !== undefined) return isMissing(outcome) ? problem('not_found') : problem('idempotency_key_reused');
      if (isProblem(outcome) && !keptStatuses.has(errorCatalogue[outcome.problem].status)) return outcome;
      const answer = render(outcome);
      await saveAnswer(unit.trx, toRow(request, id, answer, box));
      return answer;
    });
  };
}

/** The refusals that are kept like successes; any other is worth another try. */
const keptStatuses = new Set<number>([404, 409]);

/** SHA-256 of what the key is good for; the client's own text is not kept. */
function idOf({ organizationId, key, method, path }: IdempotentRequest): Buffer {
  return hash('sha256', JSON.stringify([organizationId, key, method, path]), 'buffer');
}

/** What a sealed answer belongs to: it opens for this organization, key, method and path only. */
export function answerContext(organizationId: string, hexId: string): string {
  return `idempotent-answer:${organizationId}:${hexId}`;
}

function contextOf({ organizationId }: IdempotentRequest, id: Buffer): string {
  return answerContext(organizationId, id.toString('hex'));
}

function isMissing(outcome: unknown): boolean {
  return isProblem(outcome) && outcome.problem === 'not_found';
}

function toRow(request: IdempotentRequest, id: Buffer, answer: Answer, box: Pick<SecretBox, 'seal'>): NewAnswerRow {
  const { status, headers, body } = answer;
  return {
    id,
    organization_id: request.organizationId,
    fingerprint: request.fingerprint,
    status,
    headers,
    body_sealed: body === null ? null : box.seal(body, contextOf(request, id)),
  };
}

function replay(stored: StoredAnswerRow, context: string, box: Pick<SecretBox, 'open'>): Answer | Problem {
  try {
    return {
      status: stored.status,
      headers: { ...stored.headers, 'Idempotent-Replayed': 'true' },
      body: stored.body_sealed === null ? null : box.open(stored.body_sealed, context),
    };
  } catch (error) {
    // The key ring lacks the key of this answer. Running the request again would do things twice.
    if (error instanceof SecretUnavailableError) return problem('service_unavailable');
    throw error;
  }
}
