import { useCallback, useEffect, useState } from 'preact/hooks';
import { type Query, useQuery } from '../api/query.ts';
import type { Delivery, List, Webhook } from '../api/types.ts';
import { plural } from '../format.ts';
import { m } from '../messages.ts';
import { Load, Page, Panel } from '../ui/page.tsx';
import { Button } from '../ui/text.tsx';
import { DeliveryTable } from './deliveries.tsx';

const path = '/v1/webhooks/deliveries?limit=50';

/** The newest deliveries, read every 2 seconds while somebody can see them. */
export function Live() {
  const [isOn, setOn] = useState(true);
  const deliveries = useQuery<List<Delivery>>(path, isOn ? 2000 : undefined);
  const webhooks = useQuery<List<Webhook>>('/v1/webhooks?limit=100');
  const urlOf = useCallback(
    (id: string) => webhooks.data?.data.find((webhook) => webhook.id === id)?.url ?? id,
    [webhooks.data],
  );
  const arrived = useArrived(deliveries);
  return (
    <Page
      title={m.live.title}
      actions={<Button onClick={() => setOn(!isOn)}>{isOn ? m.live.pause : m.live.go}</Button>}
    >
      <Panel bare title={m.deliveries.title} request={path} cli="deliveries tail">
        <p class="muted">{m.live.text}</p>
        <p aria-live="polite">{m.live.arrived(plural(arrived, 'delivery', 'deliveries'))}</p>
        <Load query={deliveries}>{({ data }) => <DeliveryTable rows={data} urlOf={urlOf} />}</Load>
      </Panel>
    </Page>
  );
}

/** Counts the deliveries that are newer than every delivery of the first answer. */
function useArrived({ data }: Query<List<Delivery>>): number {
  const [first, setFirst] = useState<string>();
  const newest = data?.data[0]?.id ?? (data && '');
  useEffect(() => setFirst((before) => before ?? newest), [newest]);
  return first === undefined ? 0 : (data?.data.filter(({ id }) => id > first).length ?? 0);
}
