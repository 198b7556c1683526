import { randomBytes } from 'node:crypto';
import {
  type RotateSecret,
  type WebhookHeaders,
  type WebhookWithSecret,
  webhookHeadersContext,
  webhookSecretContext,
} from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { SecretBox } from '@enterprise-api/shared/security';
import type { Transact } from '../core/unit-of-work.ts';
import { type Problem, problem } from '../http/problem.ts';
import type { Tagged } from '../http/routing/etag.ts';
import { presentTagged } from './present.ts';
import { findWebhook, lockWebhook, replaceSecret } from './queries.ts';

const secretBytes = 32;

/** Webhook signing secrets: stored encrypted, shown only in the response that creates them. */
export type WebhookSecrets = ReturnType<typeof createWebhookSecrets>;

export function createWebhookSecrets(box: Pick<SecretBox, 'seal'>) {
  const create = (organizationId: Uuid, id: Uuid) => {
    const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
    return { secret, sealed: box.seal(secret, webhookSecretContext(organizationId, id)) };
  };
  return {
    create,

    /** Returns the values of the columns that store a webhook's headers. */
    sealHeaders: (organizationId: Uuid, id: Uuid, headers: WebhookHeaders = []) => ({
      header_names: headers.length === 0 ? null : headers.map(([name]) => name),
      headers_sealed:
        headers.length === 0 ? null : box.seal(JSON.stringify(headers), webhookHeadersContext(organizationId, id)),
    }),

    /**
     * Replaces a webhook's secret. At most two secrets are valid at a time. During an open overlap, a rotation needs
     * `force`, because it would end the older secret. Receivers may still verify with the older secret.
     */
    rotate: (
      transact: Transact,
      { organizationId, id }: { organizationId: Uuid; id: Uuid },
      { overlap_seconds: overlapSeconds, force }: RotateSecret,
    ): Promise<Tagged<WebhookWithSecret> | Problem> =>
      transact(async ({ trx, changed }) => {
        const before = await lockWebhook(trx, organizationId, id);
        if (before === undefined) return problem('not_found');
        const openUntil = before.previous_secret_expires_at;
        if (openUntil !== null && !force) return overlapIsOpen(openUntil);
        const { secret, sealed } = create(organizationId, id);
        await replaceSecret(trx, { organizationId, id }, { sealed, overlapSeconds });
        const row = await findWebhook(trx, organizationId, id);
        if (row === undefined) return problem('not_found');
        await changed({
          action: 'webhook.secret_rotated',
          objectId: id,
          organizationId,
          changedFields: ['secret'],
          changes: {},
        });
        const { etag, tagged } = presentTagged(row);
        return { etag, tagged: { ...tagged, secret } };
      }),
  };
}

function overlapIsOpen(until: Date): Problem {
  return problem('conflict', {
    message: `The previous secret is in use until ${until.toISOString()}. Send "force": true to end its use now.`,
  });
}
