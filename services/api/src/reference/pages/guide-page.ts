import { readFileSync } from 'node:fs';
import { type ErrorCode, errorCatalogue } from '@enterprise-api/shared/contracts';
import { type Html, html } from '../html.ts';
import type { NavigationGroup, Page } from '../layout.ts';
import { headingsOf, renderInline, renderMarkdown } from '../markdown.ts';

const text = readFileSync(new URL('../guide/guide.md', import.meta.url), 'utf8');

export function guidePage(): Page {
  return {
    path: '/docs',
    title: 'Guide',
    description: 'How to call the Enterprise API and how to receive its webhooks.',
    main: html`${renderMarkdown(text)}${errorList()}`,
  };
}

export function guideNavigation(): NavigationGroup {
  const sections = headingsOf(text).filter(({ depth }) => depth === 2);
  return {
    title: 'Guide',
    links: sections.map(({ text: label, anchor }) => ({ href: `/docs#${anchor}`, label })),
  };
}

export function errorAnchor(code: string): string {
  return `error-${code}`;
}

function errorList(): Html {
  return html`<dl class="fields">
${Object.keys(errorCatalogue).map((code) => errorEntry(code as ErrorCode))}</dl>`;
}

function errorEntry(code: ErrorCode): Html {
  const { status, message } = errorCatalogue[code];
  return html`<div id="${errorAnchor(code)}"><dt><code>${code}</code> <span class="type">${status}</span></dt>
<dd><p>${message} ${renderInline(errorAdvice[code])}</p></dd></div>
`;
}

/** Tells a caller how to react; the catalogue explains each error's meaning. */
const errorAdvice: Readonly<Record<ErrorCode, string>> = {
  unauthorized: 'Send `Authorization: Bearer <key>` once, with a key that is neither revoked nor expired.',
  ip_not_allowed: "Call from an address of the key's allowlist, or have the allowlist changed.",
  plan_no_api_access: 'The organization needs another plan than starter.',
  forbidden_scope: 'Use a key that has the scope named in `required_scope`.',
  rate_limited: 'Wait for `Retry-After` seconds, then send the request again.',
  invalid_json: 'Send one JSON object in UTF-8, in which no name appears twice.',
  validation_failed: 'Correct every place that `details` names.',
  invalid_cursor: 'Use `next_cursor` of the same list with the same filters, or begin again without `cursor`.',
  url_not_allowed: 'Use an https URL of a public host, without credentials, on port 443 or a usual one from 1024 on.',
  not_found: 'Check the path and the id. Ids of other organizations look like unknown ones.',
  method_not_allowed: 'Use a method that the header `Allow` names.',
  conflict: '`message` says what is in the way. Read the resource again, then decide.',
  limit_reached: 'Delete something of its kind before you add another.',
  event_expired: 'Begin again without `Last-Event-ID`, `after` or `cursor`: what lies before retention is gone.',
  precondition_failed: 'Read the resource again, apply your change to it, and send its new `ETag` in `If-Match`.',
  payload_too_large: 'Send less: bodies have at most 64 KiB, those of areas what their owner accepts.',
  unsupported_media_type: 'Send `Content-Type: application/json`, uncompressed, in UTF-8.',
  idempotency_key_reused: 'Use a new `Idempotency-Key` for every request that is not a repetition.',
  idempotency_in_progress: 'Wait a second, then repeat the request with the same `Idempotency-Key`.',
  request_timeout: 'Send the whole request without a pause.',
  malformed_request: 'Use an HTTP library: what arrived was not HTTP/1.1.',
  upstream_unavailable: 'Repeat it later. A request that changes something may have been carried out: ask first.',
  upstream_timeout: 'Repeat it later. A request that changes something may have been carried out: ask first.',
  internal_error: 'Repeat it once. If it stays, report it with the `request_id`.',
  service_unavailable:
    'Wait for `Retry-After` seconds, then repeat the request, a `POST` with the same `Idempotency-Key`.',
};
