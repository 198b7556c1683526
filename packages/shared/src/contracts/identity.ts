import { z } from 'zod';

export const identityTokenIssuer = 'enterprise-api';

/** A public key that verifies identity tokens (RFC 8037). */
const publicSigningKeySchema = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
  kid: z.string().describe('Id of the key, as in the header of tokens.'),
  x: z.string().describe('The public key, in base64url.'),
});

export type PublicSigningKey = z.output<typeof publicSigningKeySchema>;

/** The response of `GET /internal/v1/jwks.json` (RFC 7517, section 5). */
export const publicSigningKeysSchema = z
  .strictObject({ keys: z.array(publicSigningKeySchema).describe('The keys that verify identity tokens.') })
  .meta({
    id: 'PublicSigningKeys',
    description: 'A JSON Web Key Set.',
    examples: [
      {
        keys: [
          {
            kty: 'OKP',
            crv: 'Ed25519',
            alg: 'EdDSA',
            use: 'sig',
            kid: '2026-11',
            x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          },
        ],
      },
    ],
  });
