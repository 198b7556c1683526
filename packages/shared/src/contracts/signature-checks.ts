import { z } from 'zod';
import { isExactNumber } from './json.ts';
import { exampleId, publicIdSchema } from './primitives.ts';

const causes = [
  'missing_header',
  'bad_encoding',
  'wrong_header',
  'body_consumed',
  'whitespace_changed',
  'truncated',
  'body_reserialized',
  'previous_secret',
  'other_webhook',
  'timestamp_skew',
  'ok',
  'unknown',
] as const;
export type SignatureCause = (typeof causes)[number];

const computations = [
  'correct',
  'secret_decoded',
  'secret_not_decoded',
  'secret_without_prefix',
  'secret_with_version',
  'secret_with_whitespace_or_quotes',
  'base64_not_hex',
  'hex_not_base64',
  'body_reserialized',
  'without_timestamp',
  'unknown',
] as const;
export type SignatureComputation = (typeof computations)[number];

const headersSchema = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/** `z.record` would accept a number preserved as text, and drop a field named `__proto__`. */
function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isExactNumber(value) && !Object.hasOwn(value, '__proto__');
}

/** POST /v1/webhooks/{id}/verify-signature. */
export const verifySignatureSchema = z
  .strictObject({
    headers: z
      .preprocess((value) => (isRecord(value) ? value : null), headersSchema)
      .meta({
        description: 'The headers as your receiver got them, with names in any case.',
        jsonSchema: { ...z.toJSONSchema(headersSchema), $schema: undefined },
      }),
    body: z.string().optional().describe('The body that your code verifies, as text.'),
    body_base64: z
      .base64()
      .optional()
      .meta({
        description: 'Instead of `body`: its bytes in base64.',
        jsonSchema: { type: 'string', contentEncoding: 'base64' },
      }),
    computed: z.string().max(1_000).optional().describe('The signature that your code computed.'),
  })
  .refine(({ body, body_base64 }) => (body === undefined) !== (body_base64 === undefined), {
    path: ['body'],
    error: 'must be given, or body_base64, but not both',
  })
  .meta({
    id: 'VerifySignature',
    examples: [{ headers: { 'X-Service-Signature': '5f0c…' }, body: '{"id":"evt_…"}', computed: '9b1d…' }],
  });
export type VerifySignature = z.infer<typeof verifySignatureSchema>;

export const signatureHeaders = ['X-Service-Signature', 'webhook-signature'] as const;

export const signatureCheckSchema = z
  .strictObject({
    object: z.literal('signature_check'),
    valid: z.boolean().describe('Whether at least one signature is right and none is wrong.'),
    delivery_id: publicIdSchema('dlv')
      .nullable()
      .describe('The delivery of the event that `webhook-id` names; null if this webhook has none.'),
    checks: z
      .array(
        z.strictObject({
          header: z.enum(signatureHeaders).describe('The signature that was checked.'),
          cause: z
            .enum(causes)
            .meta({ id: 'SignatureCause', description: 'Why a signature is wrong, or `ok`.', examples: ['ok'] })
            .describe('Why it is wrong, or `ok`.'),
          message: z.string().describe('The cause as a sentence.'),
          webhook_id: publicIdSchema('whk')
            .optional()
            .describe('With `other_webhook`: the webhook whose secret made the signature.'),
          seconds: z
            .number()
            .int()
            .optional()
            .describe('With `timestamp_skew`: how far the timestamp is from the nearest attempt.'),
        }),
      )
      .describe('One check for each signature header.'),
    computed: z
      .enum(computations)
      .nullable()
      .meta({
        id: 'SignatureComputation',
        description: 'From what a receiver computed its signature.',
        examples: ['correct'],
      })
      .describe('From what your code computed `computed`; null if it was not sent.'),
  })
  .meta({
    id: 'SignatureCheck',
    description: 'Why a signature is refused. Contains neither secrets nor signatures.',
    examples: [
      {
        object: 'signature_check',
        valid: false,
        delivery_id: exampleId('dlv'),
        checks: [
          {
            header: 'X-Service-Signature',
            cause: 'body_reserialized',
            message: 'The body has the same JSON in other bytes: verify the raw body, before any parser.',
          },
          { header: 'webhook-signature', cause: 'missing_header', message: 'The request has no such header.' },
        ],
        computed: null,
      },
    ],
  });
export type SignatureCheck = z.infer<typeof signatureCheckSchema>;
