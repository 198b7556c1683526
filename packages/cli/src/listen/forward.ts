import type { StreamedEvent } from '@enterprise-api/sdk';
import got, { RequestError } from 'got';

/** The local program's answer, or the reason why none arrived. */
export interface LocalAnswer {
  status: number | null;
  error: string | null;
  durationMs: number;
}

/** Equals the default time limit of a delivery. */
const timeoutMs = 15_000;

/** Sends an event to the local program like a delivery: a POST with exactly the headers and body from the stream. */
export async function forward(
  target: string,
  { headers, body }: StreamedEvent,
  signal: AbortSignal,
): Promise<LocalAnswer> {
  const startedAt = performance.now();
  const end = (status: number | null, error: string | null) => ({
    status,
    error,
    durationMs: Math.round(performance.now() - startedAt),
  });
  try {
    const answer = await got.post(target, {
      headers,
      body,
      signal,
      timeout: { request: timeoutMs },
      retry: { limit: 0 },
      throwHttpErrors: false,
      followRedirect: false,
      decompress: false,
    });
    return end(answer.statusCode, null);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RequestError) return end(null, error.code);
    throw error;
  }
}

/** Explains how a delivery would treat this status or error. */
export function hintFor({ status, error }: LocalAnswer): string | undefined {
  if (error === 'ECONNREFUSED') return 'nothing listens there';
  if (error === 'ETIMEDOUT') return `no answer within ${timeoutMs / 1_000} s`;
  if (status !== null && status >= 300 && status < 400) return 'redirects are not followed';
  return undefined;
}
