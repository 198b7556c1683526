import { createHash, randomBytes } from 'node:crypto';
import { readStateFile, writeStateFile } from '@enterprise-api/testkit';
import { z } from 'zod';

const schema = z.object({
  encryption_keys: z.string().min(1),
  internal_secret: z.string().min(32),
  /** Not in files of earlier versions. */
  identity_keys: z.string().min(1).optional(),
});

export interface GeneratedSecrets {
  /** For SECRETS_ENCRYPTION_KEYS. */
  encryptionKeys: string;
  /** For INTERNAL_API_SECRET. */
  internalSecret: string;
  /** For IDENTITY_SIGNING_KEYS. */
  identityKeys: string;
}

/** The secrets of this data folder, generated at the first start and kept. */
export function loadGeneratedSecrets(file: string): GeneratedSecrets {
  const kept = readStateFile(file, schema);
  const made = {
    encryptionKeys: kept?.encryption_keys ?? makeKey(),
    internalSecret: kept?.internal_secret ?? randomBytes(32).toString('base64url'),
    identityKeys: kept?.identity_keys ?? makeKey(),
  };
  if (kept?.identity_keys === undefined) {
    writeStateFile(file, {
      encryption_keys: made.encryptionKeys,
      internal_secret: made.internalSecret,
      identity_keys: made.identityKeys,
    });
  }
  return made;
}

function makeKey(): string {
  return `local:${randomBytes(32).toString('base64')}`;
}

/** Fingerprints of the keys in SECRETS_ENCRYPTION_KEYS, the encrypting one first, to recognize a key without keeping it. */
export function keyFingerprints(encryptionKeys: string): string[] {
  return encryptionKeys.split(',').map((entry) => createHash('sha256').update(entry.trim()).digest('hex').slice(0, 16));
}
