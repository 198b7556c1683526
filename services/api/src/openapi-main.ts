import { readFileSync, writeFileSync } from 'node:fs';
import { createDatabaseClock } from '@enterprise-api/shared/ledger';
import { systemClock } from '@enterprise-api/shared/runtime';
import { minSecretLength, parseConfig } from './config.ts';
import { createDocument } from './openapi/document.ts';
import type { JsonObject } from './openapi/types.ts';
import { internalRoutes, publicRoutes } from './routes.ts';

/** A command that writes the OpenAPI documents to docs/. With `--check` it writes nothing, and fails if they differ. */
const folder = new URL('../../../docs/', import.meta.url);

/** Declares all routes without their dependencies, because no handler runs here. */
function bothTables() {
  const parsed = parseConfig({
    DATABASE_URL: 'postgres://nowhere/none',
    SECRETS_ENCRYPTION_KEYS: `none:${Buffer.alloc(32).toString('base64')}`,
    INTERNAL_API_SECRET: 'x'.repeat(minSecretLength),
  });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const unused = {
    db: undefined as never,
    history: undefined as never,
    horizon: undefined as never,
    limits: undefined as never,
    eventStream: undefined as never,
    signatureCheckLimit: undefined as never,
    queue: undefined as never,
  };
  const parts = { config: parsed.config, databaseClock: createDatabaseClock(systemClock), ...unused };
  const more = {
    onEmitted: () => undefined,
    identityTokens: { publicKeys: [] },
    closings: { onClosed: () => undefined },
  };
  const emit = () => Promise.reject(new Error('no event is emitted here'));
  const producer = { emit, emitWithin: emit };
  return { public: publicRoutes(parts), internal: internalRoutes({ ...parts, ...more }, producer) };
}

function main(onlyCheck: boolean): void {
  const tables = bothTables();
  const documents: [file: string, document: JsonObject][] = [
    ['openapi.json', createDocument('public', tables.public)],
    ['internal-openapi.json', createDocument('internal', tables.internal)],
  ];
  for (const [file, document] of documents) {
    const text = `${JSON.stringify(document, null, 2)}\n`;
    const place = new URL(file, folder);
    if (!onlyCheck) writeFileSync(place, text);
    else if (readFileSync(place, 'utf8') !== text) {
      console.error(`docs/${file} is outdated. Run \`npm run openapi\`.`);
      process.exitCode = 1;
    }
  }
}

main(process.argv.includes('--check'));
