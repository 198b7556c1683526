import { useState } from 'preact/hooks';
import { useQuery } from '../api/query.ts';
import type { EventTypeEntry, List, Webhook } from '../api/types.ts';
import { m } from '../messages.ts';
import { setQuery, usePlace } from '../router.ts';
import { useReadOnly } from '../session.tsx';
import { Select } from '../ui/form.tsx';
import { Load, Page, Panel } from '../ui/page.tsx';
import { Button, Code, Text } from '../ui/text.tsx';
import { TestPanel } from './test-panel.tsx';

const path = '/v1/webhooks/event-types?limit=100';

export function EventTypes() {
  const { query } = usePlace();
  const types = useQuery<List<EventTypeEntry>>(path);
  return (
    <Page title={m.eventTypes.title}>
      <Load query={types}>
        {({ data }) => {
          const chosen = data.find(({ type }) => type === query.get('type')) ?? data[0];
          return (
            <>
              <Panel bare title={m.eventTypes.title} request={path} cli="webhooks event-types">
                <div class="tabs">
                  {data.map(({ type }) => (
                    <Button key={type} aria-pressed={type === chosen?.type} onClick={() => setQuery({ type })}>
                      {type}
                    </Button>
                  ))}
                </div>
                {chosen && (
                  <>
                    <p>
                      <Text of={chosen.description} />
                    </p>
                    <h2>{m.eventTypes.example}</h2>
                    <Code label={m.eventTypes.example}>{JSON.stringify(chosen.example, null, 2)}</Code>
                    <h2>{m.eventTypes.schema}</h2>
                    <Code label={m.eventTypes.schema}>{JSON.stringify(chosen.schema, null, 2)}</Code>
                  </>
                )}
              </Panel>
              {chosen && <SendExample key={chosen.type} type={chosen.type} />}
            </>
          );
        }}
      </Load>
    </Page>
  );
}

function SendExample({ type }: { type: string }) {
  const readOnly = useReadOnly('webhooks:write');
  const webhooks = useQuery<List<Webhook>>(readOnly ? undefined : '/v1/webhooks?limit=100');
  const [id, setId] = useState<string>();
  const chosen = id ?? webhooks.data?.data[0]?.id;
  if (chosen === undefined)
    return (
      <Panel title={m.webhooks.testTitle}>
        {readOnly ? (
          <p class="muted">{readOnly}</p>
        ) : (
          <Load query={webhooks}>{() => <p class="empty">{m.webhooks.none}</p>}</Load>
        )}
      </Panel>
    );
  return (
    <TestPanel key={chosen} webhook={{ id: chosen }} type={type}>
      <Select
        label={m.eventTypes.sendTo}
        name="webhook"
        value={chosen}
        options={(webhooks.data?.data ?? []).map((webhook) => [webhook.id, webhook.url] as const)}
        onChange={setId}
      />
    </TestPanel>
  );
}
