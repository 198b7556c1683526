import { useQuery } from '../api/query.ts';
import type { Event, ScannedList } from '../api/types.ts';
import { commandOf } from '../curl.ts';
import { m } from '../messages.ts';
import { to, usePlace } from '../router.ts';
import { useHidesBodies } from '../session.tsx';
import { Field } from '../ui/form.tsx';
import { Filters, Jump, listPath, Pager, PeriodFields, TypeSelect } from '../ui/list.tsx';
import { Load, Page, Panel } from '../ui/page.tsx';
import { Table } from '../ui/table.tsx';
import { Text, When } from '../ui/text.tsx';

const names = ['q', 'type', 'subject', 'since', 'until'];

export function Events() {
  const { query } = usePlace();
  const path = listPath('/v1/events', query, names);
  const events = useQuery<ScannedList<Event>>(path);
  const hidesBodies = useHidesBodies();
  return (
    <Page title={m.events.title} actions={<Jump />}>
      <Panel bare title={m.events.title} request={path} cli={cliOf(query)}>
        <Filters names={names}>
          <Field
            label={m.search.label}
            hint={hidesBodies ? m.states.hidden : m.search.hint}
            name="q"
            type="search"
            pattern=".{2,200}"
            title={m.search.size}
            disabled={hidesBodies}
            defaultValue={query.get('q') ?? ''}
          />
          <TypeSelect label={m.events.type} name="type" except="webhook.test" />
          <Field label={m.events.subject} name="subject" defaultValue={query.get('subject') ?? ''} />
          <PeriodFields />
        </Filters>
        <Load query={events}>
          {(list) => (
            <>
              <Table
                label={m.events.title}
                rows={list.data}
                keyOf={({ id }) => id}
                empty={list.has_more || query.has('cursor') ? m.search.none : m.events.none}
                columns={[
                  {
                    name: m.events.one,
                    cell: ({ id }) => (
                      <a href={to(`/events/${id}`)}>
                        <code>{id}</code>
                      </a>
                    ),
                  },
                  { name: m.events.type, cell: ({ type }) => type },
                  { name: m.events.subject, cell: ({ subject }) => <Text of={subject ?? '–'} /> },
                  { name: m.events.created, cell: ({ created_at }) => <When at={created_at} /> },
                ]}
              />
              <Pager of={events} />
            </>
          )}
        </Load>
      </Panel>
    </Page>
  );
}

const options = { q: 'search', type: 'type', since: 'since', until: 'until' };

/** The command for this list. It would take a subject from standard input. */
function cliOf(query: URLSearchParams): string | undefined {
  if (query.has('subject')) return undefined;
  return commandOf('events list', options, (name) => query.get(name));
}
