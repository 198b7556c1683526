import { useState } from 'preact/hooks';
import { useAction, useCall, useQuery } from '../api/query.ts';
import type { EventTypeEntry, List, WebhookWithSecret } from '../api/types.ts';
import { m } from '../messages.ts';
import { to } from '../router.ts';
import { useReadOnly } from '../session.tsx';
import { Form, SecretOnce } from '../ui/form.tsx';
import { Load, Page, Panel, ProblemNotice } from '../ui/page.tsx';
import { Button } from '../ui/text.tsx';
import { Snippets } from './snippets.tsx';
import { TestPanel } from './test-panel.tsx';
import { readWebhook, WebhookFields } from './webhook-fields.tsx';

const example = { url: 'https://example.com/webhooks', events: ['*'] };

/** Adds a webhook, shows its secret once, and tests it. */
export function NewWebhook() {
  const readOnly = useReadOnly('webhooks:write');
  const call = useCall();
  const types = useQuery<List<EventTypeEntry>>('/v1/webhooks/event-types?limit=100');
  const [created, setCreated] = useState<WebhookWithSecret>();
  const create = useAction(async (fields: FormData) => {
    setCreated(await call<WebhookWithSecret>('POST', '/v1/webhooks', readWebhook(fields)));
  });
  return (
    <Page title={m.webhooks.newTitle} above={{ href: to('/webhooks'), name: m.webhooks.title }}>
      {readOnly && <p class="notice">{readOnly}</p>}
      {created ? (
        <>
          <SecretOnce label={m.webhooks.secretTitle} text={m.webhooks.secretOnce} secret={created.secret} />
          <Snippets />
          <TestPanel webhook={created} />
          <p>
            <a href={to(`/webhooks/${created.id}`)}>{created.url}</a>
          </p>
        </>
      ) : (
        !readOnly && (
          <Panel
            bare
            title={m.webhooks.details}
            request="POST /v1/webhooks"
            body={example}
            cli={`webhooks create ${example.url} --events '*'`}
          >
            <Load query={types}>
              {({ data }) => (
                <Form label={m.webhooks.newTitle} onSubmit={create.run}>
                  <WebhookFields types={data} />
                  {create.problem && <ProblemNotice problem={create.problem} />}
                  <div class="buttons">
                    <Button type="submit" kind="primary" disabled={create.busy}>
                      {m.webhooks.create}
                    </Button>
                  </div>
                </Form>
              )}
            </Load>
          </Panel>
        )
      )}
    </Page>
  );
}
