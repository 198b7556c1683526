import { setTimeout as pause } from 'node:timers/promises';
import type { EventType } from '@enterprise-api/shared/contracts';
import { z } from 'zod';
import { type Listener, request } from './api-request.ts';

/** Work that the tour asked the example service for, and the event that its end has. */
export interface TourWork {
  type: EventType;
  /** Of the consultation or batch. */
  id: string;
  /** Where it can be read. */
  path: string;
}

const question = 'Is it plausible?';
const items = (...fails: boolean[]) => ({ items: fails.map((fail) => ({ question, fail })) });

/** Requests whose work ends in each event type of the example service. */
const requests: readonly { type: EventType; path: string; body: object }[] = [
  { type: 'consultation.completed', path: '/v1/consultations', body: { question } },
  { type: 'consultation.failed', path: '/v1/consultations', body: { question, fail: true } },
  { type: 'batch.completed', path: '/v1/batches', body: items(false, false) },
  { type: 'batch.failed', path: '/v1/batches', body: items(true, true) },
  { type: 'batch.partial_failure', path: '/v1/batches', body: items(false, false, true, false, false) },
];

const workSchema = z.object({ id: z.string(), status: z.string() });

/** Asks through the public API, as a customer does, for work of every kind. */
export async function* askForWork(call: Listener): AsyncGenerator<TourWork> {
  for (const { type, path, body } of requests) {
    const { id } = await request(call, workSchema, 'POST', path, body);
    yield { type, id, path: `${path}/${id}` };
  }
}

/**
 * Polls the work until it has ended.
 *
 * @returns its status; `running` when the signal aborts before
 */
export async function untilWorkEnds(call: Listener, work: TourWork, signal: AbortSignal): Promise<string> {
  for (;;) {
    const { status } = await request(call, workSchema, 'GET', work.path);
    if (status !== 'running' || signal.aborted) return status;
    await pause(100);
  }
}
