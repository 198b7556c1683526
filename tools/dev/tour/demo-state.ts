import { readStateFile, writeStateFile } from '@enterprise-api/testkit';
import { z } from 'zod';

const databaseSchema = z.object({
  organization_id: z.string(),
  api_key: z.string(),
  webhook: z
    .object({
      id: z.string(),
      secret: z.string(),
      /** Which encryption key holds the secret in the database; without that key no delivery could be signed. */
      encryption_key: z.string(),
    })
    .optional(),
});

const stateSchema = z.object({
  /** So that the webhook's URL stays the same. */
  receiver_port: z.int().min(1).max(65_535).optional(),
  /** What the demo made, by database: with another DATABASE_URL it begins anew, and finds its things on return. */
  databases: z.record(z.string(), databaseSchema),
});

export type DatabaseState = z.output<typeof databaseSchema>;

export interface DemoState {
  receiverPort(): number | undefined;
  setReceiverPort(port: number): void;
  /** What the demo made in this database, as far as it is known. */
  database(name: string): DatabaseState | undefined;
  setDatabase(name: string, state: DatabaseState): void;
}

/** What the demo keeps from run to run. All of it can be made again, so a lost or broken file only costs new things. */
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
