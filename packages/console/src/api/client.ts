import { parseExact } from '../format.ts';
import { createStore } from '../store.ts';
import type { Configuration, ErrorBody } from './types.ts';

/** A refused request, or one without an answer. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** In seconds, for `rate_limited`. */
  readonly retryAfter: number | undefined;
  readonly requiredScope: string | undefined;
  readonly param: string | undefined;

  constructor(status: number, error: Partial<ErrorBody['error']>, retryAfter: number | undefined) {
    super(error.message ?? '');
    this.status = status;
    this.code = error.code ?? (status === 0 ? 'no_answer' : 'unknown');
    this.requestId = error.request_id;
    this.retryAfter = error.retry_after ?? retryAfter;
    this.requiredScope = error.required_scope;
    this.param = error.param ?? error.details?.[0]?.path;
  }
}

/** What the owner of the console has set, read once. */
export const configuration = createStore<Configuration>({ sign_in_url: null, brand: null });

/** True once an answer says that the session has ended. The page keeps what it shows. */
export const sessionEnded = createStore(false);

/** Asks a route below /console/api. */
export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers = { 'X-Console': '1', ...(body !== undefined && { 'Content-Type': 'application/json' }) };
  const response = await fetch(`/console/api${path}`, {
    method,
    headers,
    cache: 'no-store',
    redirect: 'error',
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Problem(0, {}, undefined);
  });
  if (response.ok) return response.status === 204 ? (undefined as T) : (parseExact(await response.text()) as T);
  const answer = (await response.json().catch(() => undefined)) as Partial<ErrorBody> | undefined;
  if (response.status === 401 && path !== '/enter') sessionEnded.set(true);
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  throw new Problem(response.status, answer?.error ?? {}, Number.isFinite(retryAfter) ? retryAfter : undefined);
}
