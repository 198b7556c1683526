import {
  type EventType,
  eventBodyExample,
  eventBodyJsonSchema,
  eventPatternsFor,
  eventTypeNames,
  eventTypes,
} from '@enterprise-api/shared/contracts';
import { version } from '@enterprise-api/shared/runtime';
import { deliveryHeaders } from '@enterprise-api/shared/security';
import { codeBlock, type Html, html, jsonBlock } from '../html.ts';
import type { NavigationGroup, Page } from '../layout.ts';
import { renderInline, renderMarkdown } from '../markdown.ts';
import { fieldsOf } from '../schema-fields.ts';

const introduction = `
A webhook subscribes to types by name, to a family (\`consultation.*\`, \`batch.*\`), or to all types of consultations and batches (\`*\`). The pattern \`*\` leaves out families that we add later.

The body of an event has the same bytes on every attempt, to every webhook. See [Receive deliveries](/docs/receive) and [Verify signatures](/docs/verify).
`;

export function eventPages(): Page[] {
  return [eventList(), ...eventTypeNames.map(eventPage)];
}

export function eventNavigation(): NavigationGroup {
  const links = eventTypeNames.map((type) => ({ href: pathOf(type), label: type }));
  return { title: 'Events', links: [{ href: '/docs/events', label: 'All types' }, ...links] };
}

function pathOf(type: EventType): string {
  return `/docs/events/${type}`;
}

function eventList(): Page {
  return {
    path: '/docs/events',
    title: 'Events',
    description: 'The types of events that webhooks receive.',
    main: html`${renderMarkdown(introduction)}
<dl class="fields">${eventTypeNames.map(
      (
        type,
      ) => html`<div><dt><a href="${pathOf(type)}"><code>${type}</code></a></dt><dd>${renderInline(eventTypes[type].description)}</dd></div>
`,
    )}</dl>`,
  };
}

function eventPage(type: EventType): Page {
  const body = eventBodyExample(type);
  const { description } = eventTypes[type];
  return {
    path: pathOf(type),
    title: type,
    description: description.replaceAll('`', ''),
    main: html`<p class="lead">${renderInline(description)}</p>
${subscription(type)}
<h2 id="body"><a href="#body">Body</a></h2>
${jsonBlock(body)}
${fieldsOf(eventBodyJsonSchema(type))}
<p><code>data</code> may have further fields. They pass through as its producer wrote them: ignore what you do not know.</p>
<h2 id="request"><a href="#request">The request</a></h2>
<p>A <code>POST</code> to the webhook's URL. Signatures are shortened here; <a href="/docs/verify">verify</a> one of the two.</p>
${codeBlock(requestOf(type, JSON.stringify(body)))}`,
  };
}

function subscription(type: EventType): Html {
  const patterns = eventPatternsFor(type);
  if (patterns.length === 0)
    return html`<p>Asked for with <code>POST /v1/webhooks/{id}/test</code>, and sent to that webhook alone.</p>`;
  return html`<p>Reaches webhooks whose <code>events</code> has ${alternatives(patterns.map((pattern) => html`<code>${pattern}</code>`))}.</p>`;
}

function alternatives(some: readonly Html[]): Html[] {
  return some.map((one, index) => {
    const separator = index === 0 ? '' : index === some.length - 1 ? ' or ' : ', ';
    return html`${separator}${one}`;
  });
}

function requestOf(eventType: EventType, body: string): string {
  const headers = deliveryHeaders({
    productVersion: version,
    eventId: 'evt_01jd6kz5r8e2v9qxm3c7t4b0na',
    eventType,
    deliveryId: 'dlv_01jd6kz5r8e2v9qxm3c7t4b0na',
    attempt: 1,
    test: eventType === 'webhook.test',
    contentLength: Buffer.byteLength(body),
    timestampSeconds: Date.parse('2026-11-21T07:00:01Z') / 1_000,
  });
  const signed = { ...headers, 'webhook-signature': 'v1,g0hM9SsE…', 'X-Service-Signature': '3b1e5f0c…' };
  const lines = Object.entries(signed).map(([name, value]) => `${name}: ${value}`);
  return ['POST /webhooks HTTP/1.1', 'Host: example.com', ...lines, '', body].join('\n');
}
