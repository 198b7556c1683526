import { createHash, randomBytes } from 'node:crypto';
import { readStateFile, writeStateFile } from '@enterprise-api/testkit';
import { z } from 'zod';

const schema = z.object({
  encryption_keys: z.string().min(1),
  internal_secret: z.string().min(32),
  /** The last two are not in files of earlier versions. */
  identity_keys: z.string().min(1).optional(),
  events_secret: z.string().min(32).optional(),
});

export interface GeneratedSecrets {
  /** For SECRETS_ENCRYPTION_KEYS. */
  encryptionKeys: string;
  /** For INTERNAL_API_SECRET. */
  internalSecret: string;
  /** For INTERNAL_EVENTS_SECRET. */
  eventsSecret: string;
  /** For IDENTITY_SIGNING_KEYS. */
  identityKeys: string;
}

/** The secrets of this data folder, generated at the first start and kept. */
export function loadGeneratedSecrets(file: string): GeneratedSecrets {
  const kept = readStateFile(file, schema);
  const made = {
    encryptionKeys: kept?.encryption_keys ?? makeKey(),
    internalSecret: kept?.internal_secret ?? makeSecret(),
    eventsSecret: kept?.events_secret ?? makeSecret(),
    identityKeys: kept?.identity_keys ?? makeKey(),
  };
  if (kept?.identity_keys === undefined || kept.events_secret === undefined) {
    writeStateFile(file, {
      encryption_keys: made.encryptionKeys,
      internal_secret: made.internalSecret,
      events_secret: made.eventsSecret,
      identity_keys: made.identityKeys,
    });
  }
  return made;
}

function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}

function makeKey(): string {
  return `local:${randomBytes(32).toString('base64')}`;
}

/** Fingerprints of the keys in SECRETS_ENCRYPTION_KEYS, the encrypting one first, to recognize a key without keeping it. */
export function keyFingerprints(encryptionKeys: string): string[] {
  return encryptionKeys.split(',').map((entry) => createHash('sha256').update(entry.trim()).digest('hex').slice(0, 16));
}
