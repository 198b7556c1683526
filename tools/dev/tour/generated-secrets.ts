import { createHash, randomBytes } from 'node:crypto';
import { readStateFile, writeStateFile } from '@enterprise-api/testkit';
import { z } from 'zod';

const schema = z.object({ encryption_keys: z.string().min(1), internal_secret: z.string().min(32) });

export interface GeneratedSecrets {
  /** For SECRETS_ENCRYPTION_KEYS. */
  encryptionKeys: string;
  /** For INTERNAL_API_SECRET. */
  internalSecret: string;
}

/** The secrets of this data folder, generated at the first start and kept. */
export function loadGeneratedSecrets(file: string): GeneratedSecrets {
  const kept = readStateFile(file, schema);
  if (kept) return { encryptionKeys: kept.encryption_keys, internalSecret: kept.internal_secret };
  const made = {
    encryptionKeys: `local:${randomBytes(32).toString('base64')}`,
    internalSecret: randomBytes(32).toString('base64url'),
  };
  writeStateFile(file, { encryption_keys: made.encryptionKeys, internal_secret: made.internalSecret });
  return made;
}

/** Fingerprints of the keys in SECRETS_ENCRYPTION_KEYS, the encrypting one first, to recognize a key without keeping it. */
export function keyFingerprints(encryptionKeys: string): string[] {
  return encryptionKeys.split(',').map((entry) => createHash('sha256').update(entry.trim()).digest('hex').slice(0, 16));
}
