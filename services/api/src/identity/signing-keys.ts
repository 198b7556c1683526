import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { PublicSigningKey } from '@enterprise-api/shared/contracts';
import type { EncryptionKey } from '@enterprise-api/shared/security';

/** An Ed25519 key pair: signs identity tokens, and is published without its private part. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly published: PublicSigningKey;
}

/** All that precedes the 32 bytes of the seed in a PKCS #8 private key for Ed25519 (RFC 8410, section 7). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** @param seed 32 bytes with the id that becomes `kid` */
export function toSigningKey({ id: kid, key: seed }: EncryptionKey): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, published: { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x } };
}
