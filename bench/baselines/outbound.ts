import { createHmac, createSecretKey } from 'node:crypto';
import { testWebhookSecret } from '@enterprise-api/testkit';
import { seededRandom } from '../stage/random.ts';
import { payload, payloads } from '../stage/requests.ts';

/** The deliveries that a baseline sends, to these URLs in rotation. */
export interface Outbound {
  urls: string[];
  /** The authority of the receiver's certificates, PEM. */
  ca: string;
  count: number;
}

const key = createSecretKey(testWebhookSecret, 'utf8');

/** The text of a delivery of the usual size. */
export const usualBody = payload(payloads.usual, seededRandom(1));

/** The headers of a delivery, with one signature. */
export function signedHeaders(body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),

    'x-service-signature': createHmac('sha256', key).update(body).digest('hex'),
  };
}

/** A delivery as a job that carries everything it needs, as a design without a ledger has it. */
export interface DeliveryJob {
  url: string;
  body: string;
}

export const queueName = 'baseline';

/** BullMQ's connection from a URL. */
export function redisAt(url: string): { host: string; port: number; maxRetriesPerRequest: null } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port), maxRetriesPerRequest: null };
}

export interface WorkerOptions {
  redisUrl: string;
  /** The database in which B3 stores the results. */
  databaseUrl: string;
  ca: string;
}

export const workerConcurrency = 100;
