import { type SignatureCheck, type VerifySignature, webhookSecretContext } from '@enterprise-api/shared/contracts';
import { fromPublicId, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { type SecretBox, SecretUnavailableError } from '@enterprise-api/shared/security';
import { type RequestLimit, secondsUntilReset } from '../auth/rate-limit.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import { checkSignatures, type ReceivedRequest } from './check-signatures.ts';
import { explainComputed } from './explain-computed.ts';
import { findSent, listSigners, type Sent, type Signer } from './queries.ts';

export type SignatureDebugger = ReturnType<typeof createSignatureDebugger>;

interface SignatureDebuggerOptions {
  secretBox: Pick<SecretBox, 'open'>;
  /** Keeps a caller from guessing signatures, and from using up the processor. */
  limit: RequestLimit;
}

export function createSignatureDebugger({ secretBox, limit }: SignatureDebuggerOptions) {
  const open = (organizationId: Uuid, webhookId: Uuid, sealed: string | null): string | null => {
    try {
      return sealed === null ? null : secretBox.open(sealed, webhookSecretContext(organizationId, webhookId));
    } catch (error) {
      if (error instanceof SecretUnavailableError) return null;
      throw error;
    }
  };
  const openBoth = (organizationId: Uuid, { id, secret_sealed, previous_secret_sealed }: Signer) => ({
    secret: open(organizationId, id, secret_sealed),
    previousSecret: open(organizationId, id, previous_secret_sealed),
  });
  return {
    verify: async (
      transact: Transact,
      { organizationId, id }: { organizationId: Uuid; id: Uuid },
      input: VerifySignature,
    ): Promise<SignatureCheck | Problem> => {
      const decision = await limit(organizationId);
      if (!decision.allowed) return problem('rate_limited', { retryAfterSeconds: secondsUntilReset(decision) });
      const received = receivedRequest(input);
      const found = await transact(async ({ trx }) => {
        const signers = await listSigners(trx, organizationId);
        const signer = signers.find((webhook) => webhook.id === id);
        if (signer === undefined) return problem('not_found');
        const eventId = eventIdOf(received);
        const sent = eventId === null ? undefined : await findSent(trx, organizationId, { webhookId: id, eventId });
        return { signer, others: signers.filter((webhook) => webhook !== signer), sent };
      });
      if (isProblem(found)) return found;
      const { secret, previousSecret } = openBoth(organizationId, found.signer);
      if (secret === null) return problem('service_unavailable');
      const others = found.others.map((webhook) => ({
        webhookId: toPublicId('whk', webhook.id),
        secrets: Object.values(openBoth(organizationId, webhook)).filter((each) => each !== null),
      }));
      const { previous_secret_expires_at: previousSecretExpiresAt } = found.signer;
      const known = { secret, previousSecret, previousSecretExpiresAt, others, sent: found.sent };
      return presentCheck(input.computed, received, known);
    },
  };
}

function receivedRequest({ headers, body, body_base64 }: VerifySignature): ReceivedRequest {
  const entries = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), [value].flat().join(' ').trim()] as const,
  );
  return {
    headers: new Map(entries),
    body: body_base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(body_base64, 'base64'),
  };
}

function eventIdOf({ headers }: ReceivedRequest): Uuid | null {
  return fromPublicId('evt', headers.get('webhook-id') ?? headers.get('x-service-event-id') ?? '');
}

interface Known extends Omit<Parameters<typeof checkSignatures>[1], 'body' | 'attemptTimesMs'> {
  sent: Sent | undefined;
}

function presentCheck(
  computed: string | undefined,
  received: ReceivedRequest,
  { sent, ...known }: Known,
): SignatureCheck {
  const storedBody = typeof sent?.body === 'string' ? Buffer.from(sent.body) : null;
  const attemptTimesMs = sent?.attempt_times.map((time) => time.getTime()) ?? [];
  const { headers, body } = received;
  const signed = {
    secrets: known.previousSecret === null ? [known.secret] : [known.secret, known.previousSecret],
    id: headers.get('webhook-id') ?? '',
    timestamp: headers.get('webhook-timestamp') ?? '',
    body,
    storedBody,
  };
  return {
    object: 'signature_check',
    ...checkSignatures(received, { ...known, body: storedBody, attemptTimesMs }),
    delivery_id: sent?.delivery_id ? toPublicId('dlv', sent.delivery_id) : null,
    computed: computed === undefined ? null : explainComputed(computed, signed),
  };
}
