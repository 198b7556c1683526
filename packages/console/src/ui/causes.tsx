import type { WebhookHealth } from '../api/types.ts';
import { count, visible } from '../format.ts';
import { m } from '../messages.ts';
import { to } from '../router.ts';
import { useReadOnly } from '../session.tsx';
import { Table } from './table.tsx';
import { Text, When } from './text.tsx';

type Cause = WebhookHealth['causes'][number];

/** An error in words, with its code. */
export const errorName = (error: string | null, status: number | null) =>
  [error && (m.errors[error] ?? visible(error)), status].filter((part) => part !== null && part !== '').join(' ');

/** The causes of failed attempts, each with its remedy, its newest delivery, and a link to send all again. */
export function Causes({ webhookId, causes }: { webhookId: string; causes: readonly Cause[] }) {
  const readOnly = useReadOnly('webhooks:write');
  return (
    <Table
      label={m.webhooks.causes}
      rows={causes}
      keyOf={({ error, status_code }) => `${error} ${status_code}`}
      empty={m.webhooks.noCauses}
      columns={[
        {
          name: m.webhooks.cause,
          cell: ({ error, status_code, hint }) => (
            <>
              <strong>{errorName(error, status_code)}</strong>
              <p class="hint">
                <Text of={hint} />
              </p>
            </>
          ),
        },
        { name: m.webhooks.count, number: true, cell: (cause) => count(cause.count) },
        {
          name: m.webhooks.newest,
          cell: ({ delivery_id, last_at }) => (
            <a href={to(`/deliveries/${delivery_id}`)}>
              <When at={last_at} />
            </a>
          ),
        },
        {
          name: '',
          cell: ({ error, status_code }) =>
            readOnly ? null : (
              <a
                class="button"
                href={to(`/webhooks/${webhookId}/replay`, {
                  status: ['failed', 'pending'],
                  error,
                  status_code: status_code === null ? undefined : String(status_code),
                })}
              >
                {m.webhooks.sendAll}
              </a>
            ),
        },
      ]}
    />
  );
}
