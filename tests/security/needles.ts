import { testInternalSecret as internalSecret, testKeyRing } from '@enterprise-api/testkit';

export interface MadeWebhook {
  id: string;
  secret: string;
}

/** What must not be found anywhere, by name: every secret of a run, in the forms in which it might be written. */
export function needles(key: string, webhooks: readonly MadeWebhook[], signingSeed: Buffer): Record<string, string> {
  const encryptionKey = Buffer.from(testKeyRing.replace(/^.*?:/, ''), 'base64');
  return {
    'the API key': key,
    'the secret part of the API key': key.slice(12, -6),
    'the internal secret': internalSecret,
    'the encryption key': encryptionKey.toString('base64').slice(0, -1),
    'the encryption key in hex': encryptionKey.toString('hex'),
    'the signing key': signingSeed.toString('base64').slice(0, -1),
    'the signing key in hex': signingSeed.toString('hex'),
    'the signing key in base64url': signingSeed.toString('base64url'),
    ...Object.fromEntries(
      webhooks.flatMap(({ secret }, index) => {
        const bytes = Buffer.from(secret.slice(6), 'base64');
        return [
          [`the secret of webhook ${index}`, secret.slice(6, -1)],
          [`the secret of webhook ${index} in hex`, bytes.toString('hex')],
          [`the secret of webhook ${index} in base64url`, bytes.toString('base64url')],
        ];
      }),
    ),
  };
}
