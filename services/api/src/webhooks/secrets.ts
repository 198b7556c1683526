import { randomBytes } from 'node:crypto';
import { type RotateSecret, type WebhookWithSecret, webhookSecretContext } from '@enterprise-api/shared/contracts';
import type { SecretBox } from '@enterprise-api/shared/security';
import { type Problem, problem } from '../core/problem.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { type Tagged, versionTag } from '../http/routing/etag.ts';
import { presentWebhook } from './present.ts';
import { findOpenOverlap, findWebhook, lockWebhook, replaceSecret } from './queries.ts';

const secretBytes = 32;

/** The secrets of webhooks: stored sealed, told once. */
export function createWebhookSecrets(box: Pick<SecretBox, 'seal'>) {
  const create = (organizationId: string, id: string) => {
    const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
    return { secret, sealed: box.seal(secret, webhookSecretContext(organizationId, id)) };
  };
  return {
    create,

    /** A third secret while two are in use would leave receivers behind that know only the oldest: that wants `force`. */
    rotate: (
      transact: Transact,
      { organizationId, id }: { organizationId: string; id: string },
      { overlap_seconds: overlapSeconds, force }: RotateSecret,
    ): Promise<Tagged<WebhookWithSecret> | Problem> =>
      transact(async ({ trx, changed }) => {
        if ((await lockWebhook(trx, organizationId, id)) === undefined) return problem('not_found');
        const openUntil = force ? undefined : await findOpenOverlap(trx, id);
        if (openUntil !== undefined) return overlapIsOpen(openUntil);
        const { secret, sealed } = create(organizationId, id);
        await replaceSecret(trx, { organizationId, id }, { sealed, overlapSeconds });
        const row = await findWebhook(trx, organizationId, id);
        if (row === undefined) return problem('not_found');
        await changed({ action: 'webhook.secret_rotated', objectId: id, organizationId, changedFields: ['secret'] });
        return { etag: versionTag(row.version), tagged: { ...presentWebhook(row), secret } };
      }),
  };
}

function overlapIsOpen(until: Date): Problem {
  return problem('conflict', {
    message: `The secret before this one is in use until ${until.toISOString()}. Send "force": true to end that now.`,
  });
}
