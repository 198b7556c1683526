import { createPrivateKey, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';

/** A key of an API that a test starts: its setting, and tokens as that API would sign them, or almost. */
export interface TestSigningKey {
  /** For IDENTITY_SIGNING_KEYS. */
  readonly setting: string;
  tokenFor(organizationId: string, audience: string, differences?: TokenDifferences): Promise<string>;
}

/** What is wrong with a token. */
interface TokenDifferences {
  issuer?: string;
  /** Seconds from now; 300 by default. */
  expiresIn?: number;
  kid?: string;
}

const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

export function createTestSigningKey(ownKid = 'test'): TestSigningKey {
  const seed = randomBytes(32);
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
  return {
    setting: `${ownKid}:${seed.toString('base64')}`,
    tokenFor: (org, audience, { issuer = 'enterprise-api', expiresIn = 300, kid = ownKid } = {}) =>
      new SignJWT({ org, plan: 'enterprise', scopes: ['*'] })
        .setProtectedHeader({ alg: 'EdDSA', kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject('key_test')
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1_000) + expiresIn)
        .sign(key),
  };
}
