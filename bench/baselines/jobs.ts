/** A delivery as a job, with all it needs: how a queue alone does it. */
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
  /** Where B3 keeps what became of each. */
  databaseUrl: string;
  ca: string;
}

export const workerConcurrency = 100;
