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
