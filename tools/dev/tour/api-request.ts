import type { ApiClient, HttpAnswer } from '@enterprise-api/testkit';
import type { z } from 'zod';

/** Sends requests to one listener of the API: `call` of the client to the public one, `internal` to the internal one. */
export type Listener = ApiClient['call'];

/** A client for the API of this run; with a key, it may call the public listener. */
export type Connect = (key?: string) => ApiClient;

/**
 * Sends a request and parses the body of the answer.
 *
 * @throws with the API's own error message when the answer is not 2xx
 */
export async function request<Schema extends z.ZodType>(
  listener: Listener,
  schema: Schema,
  method: string,
  path: string,
  body?: object,
): Promise<z.output<Schema>> {
  const answer = await listener(method, path, body);
  if (answer.status < 200 || answer.status > 299) throw unexpectedAnswer(method, path, answer);
  return schema.parse(answer.body);
}

/** The error for an answer with which the tour cannot continue. */
export function unexpectedAnswer(method: string, path: string, answer: HttpAnswer): Error {
  const error = answer.body?.error as { code?: string; message?: string } | undefined;
  const explanation = error ? `${error.code}: ${error.message}` : 'without an explanation';
  return new Error(`${method} ${path} was answered with ${answer.status} (${explanation}).`);
}
