import { readStateFile, writeStateFile } from '@enterprise-api/testkit';
import { z } from 'zod';

const databaseSchema = z.object({
  organization_id: z.string(),
  api_key: z.string(),
  webhook: z
    .object({
      id: z.string(),
      secret: z.string(),
      /** Fingerprint of the key that encrypts the secret in the database. Without that key no delivery can be signed. */
      encryption_key: z.string(),
    })
    .optional(),
});

const stateSchema = z.object({
  /** Kept so that the webhook's URL stays the same. */
  receiver_port: z.int().min(1).max(65_535).optional(),
  /** What the demo created, by database name: another DATABASE_URL has its own organization, key and webhook. */
  databases: z.record(z.string(), databaseSchema),
});

export type DatabaseState = z.output<typeof databaseSchema>;

export interface DemoState {
  receiverPort(): number | undefined;
  setReceiverPort(port: number): void;
  /** What the demo created in this database; undefined when nothing is known of it. */
  database(name: string): DatabaseState | undefined;
  setDatabase(name: string, state: DatabaseState): void;
}

/** What the demo keeps from run to run. A lost or broken file does no harm: the demo creates everything again. */
export function openDemoState(file: string): DemoState {
  const state: z.output<typeof stateSchema> = readStateFile(file, stateSchema) ?? { databases: {} };
  return {
    receiverPort: () => state.receiver_port,
    setReceiverPort: (port) => {
      state.receiver_port = port;
      writeStateFile(file, state);
    },
    database: (name) => (Object.hasOwn(state.databases, name) ? state.databases[name] : undefined),
    setDatabase: (name, database) => {
      state.databases[name] = database;
      writeStateFile(file, state);
    },
  };
}
