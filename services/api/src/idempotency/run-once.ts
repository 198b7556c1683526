import { hash } from 'node:crypto';
import type { ErrorCode } from '@enterprise-api/shared/contracts';
import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { fromPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { createSecretBox, type KeyRing, type SecretBox, SecretUnavailableError } from '@enterprise-api/shared/security';
import type { Transact } from '../core/unit-of-work.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import type { Answer } from '../http/routing/respond.ts';
import { findAnswer, hasSubject, type StoredAnswerRow, saveAnswer, tryLock } from './queries.ts';

export interface IdempotentRequest {
  /** UUID of the caller's organization, or the id of an internal caller's secret. */
  ownerId: string;
  key: string;
  method: string;
  path: string;
  query: string;
  /** The parsed JSON before validation; undefined without a body. */
  json: unknown;
  /** Looks up the object that the path names, without any other effect. True for a path without ids. */
  exists: (trx: DatabaseTransaction) => Promise<boolean>;
}

export type RunOnce = (
  request: IdempotentRequest,
  transact: Transact,
  run: (transact: Transact) => unknown,
  render: (outcome: unknown) => Answer,
) => Promise<Answer | Problem>;

/**
 * Runs requests with an `Idempotency-Key` once. One transaction stores the effect and the answer: both exist, or
 * neither exists. So a client that got no answer may repeat its request. Only an advisory lock of its transaction marks
 * a running request, so a crash leaves nothing to clean up.
 *
 * An `Idempotency-Key` belongs to its owner, method and path. Under `/v1` the owner is the organization, not the API
 * key. A client that replaces its API key between two tries must not repeat the effect. Under `/internal/v1` the owner
 * is the id of the caller's secret. All stored answers are sealed, because some contain a secret.
 */
export function createRunOnce(ring: KeyRing): RunOnce {
  const box = createSecretBox(ring);
  return (request, transact, run, render) => {
    const id = idOf(request);
    const fingerprint = fingerprintOf(request.query, request.json);
    return transact(async (unit) => {
      if (!(await tryLock(unit.trx, id))) return problem('idempotency_in_progress');
      const stored = await findAnswer(unit.trx, id);
      if (stored !== undefined) {
        const replayed = stored.fingerprint.equals(fingerprint)
          ? await replay(unit.trx, stored, request, id, box)
          : null;
        if (replayed !== null) return replayed;
        return problem((await request.exists(unit.trx)) ? 'idempotency_key_reused' : 'not_found');
      }
      const outcome = await run(unit.part);
      if (isProblem(outcome) && !storedProblems.has(outcome.problem)) return outcome;
      const answer = render(outcome);
      const about = unit.organizationId() ?? organizationIn(request.path);
      const row = { ...toRow(request, id, answer, box), about_organization_id: about };
      await saveAnswer(unit.trx, { ...row, fingerprint });
      return answer;
    });
  };
}

/**
 * Problems that are stored like successes. After any other problem, such as a reached limit, a repeated request may
 * succeed.
 */
const storedProblems = new Set<ErrorCode>(['not_found', 'conflict']);

/** SHA-256 of the key, its owner, method and path. The client's own text is not stored. */
function idOf({ ownerId, key, method, path }: IdempotentRequest): Buffer {
  return hash('sha256', JSON.stringify([ownerId, key, method, path]), 'buffer');
}

/**
 * SHA-256 of a request's query and body. Hashes the parsed JSON, not its bytes, so that a client may serialize the JSON
 * again for each try. Hashes before defaults and conversions, so that the program's next version computes the same
 * hash. Excludes the values of `headers`.
 */
export function fingerprintOf(query: string, json: unknown): Buffer {
  return hash(
    'sha256',
    JSON.stringify([query, canonical(hasHeaders(json) ? { ...json, headers: null } : json)]),
    'buffer',
  );
}

/**
 * The SHA-256 of `headers`, or an empty text without them. They may contain a short password, and a reader of the table
 * could find the password by its hash. So the hash is sealed together with the answer's body, which follows it.
 */
function headersPrint(json: unknown): string {
  return hasHeaders(json) ? hash('sha256', JSON.stringify(canonical(json.headers)), 'hex') : '';
}

const hasHeaders = (json: unknown): json is { headers: unknown } =>
  typeof json === 'object' && json !== null && 'headers' in json;

/**
 * Makes the value independent of the order of its fields. Recursion is safe: the parser has limited the value's depth.
 */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [name, canonical(field)]);
  return { fields: fields.sort(([left], [right]) => (left < right ? -1 : 1)) };
}

export function answerContext(ownerId: string, hexId: string): string {
  return `idempotent-answer:${ownerId}:${hexId}`;
}

function sealContextOf({ ownerId }: IdempotentRequest, id: Buffer): string {
  return answerContext(ownerId, id.toString('hex'));
}

function toRow(request: IdempotentRequest, id: Buffer, answer: Answer, box: Pick<SecretBox, 'seal'>) {
  const { status, headers, body } = answer;
  const sealed = headersPrint(request.json) + (body ?? '');
  return {
    id,
    organization_id: request.ownerId,
    status,
    headers,
    body_sealed: sealed === '' ? null : box.seal(sealed, sealContextOf(request, id)),
  };
}

/** Finds the organization of an internal request that changes nothing. */
function organizationIn(path: string): Uuid | null {
  return fromPublicId('org', /org_[0-9a-z]{26}/.exec(path)?.[0] ?? '');
}

/** Returns null if the request had other `headers`. */
async function replay(
  trx: DatabaseTransaction,
  stored: StoredAnswerRow,
  request: IdempotentRequest,
  id: Buffer,
  box: Pick<SecretBox, 'open'>,
): Promise<Answer | Problem | null> {
  let opened: string;
  try {
    opened = stored.body_sealed === null ? '' : box.open(stored.body_sealed, sealContextOf(request, id));
  } catch (error) {
    // The key ring lacks this answer's key. Running the request again would repeat its effect.
    if (error instanceof SecretUnavailableError) return problem('service_unavailable');
    throw error;
  }
  const print = headersPrint(request.json);
  if (!opened.startsWith(print)) return null;
  const body = opened.slice(print.length);
  const headers = { ...stored.headers, 'Idempotent-Replayed': 'true' };
  return { status: stored.status, headers, body: body === '' ? null : await withoutErasedSubject(trx, body) };
}

/** A delivery in a stored answer keeps its subject only while the event has it. */
async function withoutErasedSubject(trx: DatabaseTransaction, body: string): Promise<string> {
  if (!body.includes('"subject":"')) return body;
  const shown = JSON.parse(body) as { object?: unknown; event_id?: unknown; subject?: unknown };
  if (shown.object !== 'delivery' || typeof shown.subject !== 'string') return body;
  const eventId = fromPublicId('evt', String(shown.event_id));
  return eventId !== null && (await hasSubject(trx, eventId)) ? body : JSON.stringify({ ...shown, subject: null });
}
