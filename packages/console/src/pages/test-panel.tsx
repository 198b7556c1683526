import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAction, useCall, useQuery } from '../api/query.ts';
import type { Delivery, DeliveryDetail, EventTypeEntry, List, Webhook } from '../api/types.ts';
import { duration } from '../format.ts';
import { m } from '../messages.ts';
import { to } from '../router.ts';
import { errorName } from '../ui/causes.tsx';
import { Form, Select } from '../ui/form.tsx';
import { Panel, ProblemNotice } from '../ui/page.tsx';
import { Button, Code, Text } from '../ui/text.tsx';

interface TestPanelProps {
  webhook: Pick<Webhook, 'id'>;
  /** Sends this type, without a choice. */
  type?: string;
  children?: ComponentChildren;
}

/** Sends an example, and shows the answer of the receiver as soon as it is there. */
export function TestPanel({ webhook, type, children }: TestPanelProps) {
  const call = useCall();
  const types = useQuery<List<EventTypeEntry>>(type ? undefined : '/v1/webhooks/event-types?limit=100');
  const [sent, setSent] = useState<string>();
  const [chosen, setChosen] = useState(type ?? 'webhook.test');
  const path = `/v1/webhooks/${webhook.id}/test`;
  const body = { type: chosen };
  const send = useAction(async () => {
    const { id } = await call<Delivery>('POST', path, body);
    setSent(id);
  });
  const names = ['webhook.test', ...(types.data?.data.map((entry) => entry.type) ?? [])];
  return (
    <Panel
      title={m.webhooks.testTitle}
      request={`POST ${path}`}
      body={body}
      cli={chosen === 'webhook.test' ? `webhooks test ${webhook.id}` : undefined}
    >
      <p class="muted">{m.webhooks.testText}</p>
      <Form label={m.webhooks.testTitle} class="form inline" onSubmit={() => send.run()}>
        {children}
        {!type && (
          <Select
            label={m.webhooks.testType}
            name="type"
            value={chosen}
            options={[...new Set(names)].map((name) => [name, name] as const)}
            onChange={setChosen}
          />
        )}
        <Button type="submit" kind="primary" disabled={send.busy}>
          {m.webhooks.test}
        </Button>
      </Form>
      {send.problem && <ProblemNotice problem={send.problem} />}
      <div aria-live="polite">{sent && <TestAnswer key={sent} id={sent} />}</div>
    </Panel>
  );
}

function TestAnswer({ id }: { id: string }) {
  const [done, setDone] = useState(false);
  const { data, problem, reload } = useQuery<DeliveryDetail>(`/v1/webhooks/deliveries/${id}`, done ? undefined : 1000);
  if (problem && !data) return <ProblemNotice problem={problem} retry={reload} />;
  const attempt = data?.attempts[0];
  if (!data || data.status === 'pending' || !attempt) return <p class="loading">{m.webhooks.testSending}</p>;
  if (!done) setDone(true);
  const isGood = data.status === 'succeeded';
  return (
    <div class={`notice ${isGood ? 'good' : 'bad'}`}>
      <p>
        <strong>
          {isGood
            ? m.webhooks.testOk(attempt.status_code ?? 0, duration(attempt.duration_ms))
            : m.webhooks.testBad(errorName(attempt.error, attempt.status_code))}
        </strong>
      </p>
      {attempt.error_message && (
        <p>
          <Text of={attempt.error_message} />
        </p>
      )}
      {attempt.response_body && <Code label={m.deliveries.answer}>{attempt.response_body}</Code>}
      <a href={to(`/deliveries/${id}`)}>{m.webhooks.testMore}</a>
    </div>
  );
}
