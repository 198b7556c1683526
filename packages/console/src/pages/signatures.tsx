import { useState } from 'preact/hooks';
import { useAction, useCall, useQuery } from '../api/query.ts';
import type { List, SignatureCheck, Webhook } from '../api/types.ts';
import { commandOf, shellWord } from '../curl.ts';
import { m } from '../messages.ts';
import { setQuery, to, usePlace } from '../router.ts';
import { Area, Field, Form, Select, textOf, textsOf } from '../ui/form.tsx';
import { Load, Page, Panel, ProblemNotice } from '../ui/page.tsx';
import { Table } from '../ui/table.tsx';
import { Button, State, Text } from '../ui/text.tsx';
import { Snippets } from './snippets.tsx';

/** Says why a receiver refuses a signature. */
export function Signatures() {
  const { query } = usePlace();
  const call = useCall();
  const listPath = '/v1/webhooks?limit=100';
  const webhooks = useQuery<List<Webhook>>(listPath);
  const [sent, setSent] = useState<{ request: string; body: unknown; cli: string }>();
  const [result, setResult] = useState<SignatureCheck>();
  const check = useAction(async (fields: FormData) => {
    setResult(undefined);
    const id = textOf(fields, 'webhook');
    const computed = textOf(fields, 'computed');
    const given = { headers: headersOf(textOf(fields, 'headers')), body: textsOf(fields, 'body')[0] ?? '' };
    const body = { ...given, ...(computed !== '' && { computed }) };
    const path = `/v1/webhooks/${id}/verify-signature`;
    const file = (text: string) => `<(printf %s ${shellWord(text)})`;
    const files = `webhooks verify ${id} --headers ${file(textOf(fields, 'headers'))} --body ${file(given.body)}`;
    setSent({ request: `POST ${path}`, body, cli: commandOf(files, { computed: 'computed' }, () => computed) });
    setResult(await call<SignatureCheck>('POST', path, body));
  });
  return (
    <Page title={m.signatures.title}>
      <Panel bare title={m.signatures.check} request={listPath} cli="webhooks list" {...sent}>
        <p class="muted">{m.signatures.text}</p>
        <Load query={webhooks}>
          {({ data }) => (
            <Form label={m.signatures.title} onSubmit={check.run}>
              <Select
                label={m.signatures.webhook}
                name="webhook"
                value={query.get('webhook_id') ?? data[0]?.id ?? ''}
                options={data.map(({ id, url }) => [id, url] as const)}
                onChange={(id) => setQuery({ webhook_id: id })}
              />
              <Area label={m.signatures.headers} name="headers" hint={m.signatures.headersHint} rows={7} required />
              <Area label={m.signatures.body} name="body" hint={m.signatures.bodyHint} rows={7} />
              <Field label={m.signatures.computed} name="computed" hint={m.signatures.computedHint} />
              {check.problem && <ProblemNotice problem={check.problem} />}
              <div class="buttons">
                <Button type="submit" kind="primary" disabled={check.busy || data.length === 0}>
                  {m.signatures.check}
                </Button>
              </div>
            </Form>
          )}
        </Load>
        <div aria-live="polite">{result && <Result result={result} />}</div>
      </Panel>
      <Snippets />
    </Page>
  );
}

function Result({ result }: { result: SignatureCheck }) {
  return (
    <div class={`notice ${result.valid ? 'good' : 'bad'}`}>
      <strong>{result.valid ? m.signatures.valid : m.signatures.invalid}</strong>
      <Table
        label={m.signatures.title}
        rows={result.checks}
        keyOf={({ header }) => header}
        empty={m.signatures.invalid}
        columns={[
          { name: m.signatures.header, cell: ({ header }) => <code>{header}</code> },
          { name: m.webhooks.cause, cell: ({ cause }) => <State of={cause} names={{}} /> },
          { name: m.events.why, cell: ({ message }) => <Text of={message} /> },
        ]}
      />
      {result.computed && (
        <p>
          {m.signatures.computedFrom}: <code>{result.computed}</code>
        </p>
      )}
      {result.delivery_id && <a href={to(`/deliveries/${result.delivery_id}`)}>{m.signatures.delivery}</a>}
    </div>
  );
}

function headersOf(text: string): Record<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  return Object.fromEntries(headers);
}
