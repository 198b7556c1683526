import { type ErrorCode, errorCatalogue } from '@enterprise-api/shared/contracts';
import { type Html, html } from '../html.ts';
import { renderInline } from '../markdown.ts';

export function errorAnchor(code: string): string {
  return `error-${code}`;
}

export function errorList(): Html {
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
  forbidden_origin: 'Only pages of the console send such requests.',
  bodies_hidden: 'Ask for a session that shows bodies.',
  rate_limited: 'Wait for `Retry-After` seconds, then send the request again.',
  invalid_json: 'Send one JSON object in UTF-8, without repeated names.',
  validation_failed: 'Correct every place that `details` names.',
  invalid_cursor: 'Use `next_cursor` of the same list with the same filters, or begin again without `cursor`.',
  url_not_allowed: 'Use an https URL of a public host, without credentials, on port 443 or an uncommon one from 1024.',
  not_found: 'Check the path and the id. Ids of other organizations look like unknown ones.',
  method_not_allowed: 'Use a method that the header `Allow` names.',
  conflict: '`message` names the obstacle. Read the resource again, then decide.',
  limit_reached: 'Delete an object before you add another.',
  event_expired: 'Begin again without `Last-Event-ID`, `after` or `cursor`. Older events are deleted.',
  precondition_failed: 'Read the resource again, apply your change to it, and send its new `ETag` in `If-Match`.',
  payload_too_large: 'Send less. The limit is 64 KiB; areas have a limit of their own.',
  unsupported_media_type: 'Check `Content-Type` and `Content-Encoding`.',
  idempotency_key_reused: 'Use a new `Idempotency-Key` for every request that is not a repetition.',
  idempotency_in_progress: 'Wait a second, then repeat the request with the same `Idempotency-Key`.',
  request_timeout: 'Send the whole request without a pause.',
  malformed_request: 'Use an HTTP library: the bytes that arrived are not HTTP/1.1.',
  upstream_unavailable: 'Repeat a read later. If the request changes something, first check whether it was done.',
  upstream_timeout: 'Repeat a read later. If the request changes something, first check whether it was done.',
  internal_error: 'Repeat it once. If it fails again, report it with the `request_id`.',
  service_unavailable:
    'Wait for `Retry-After` seconds, then repeat the request, a `POST` with the same `Idempotency-Key`.',
};
