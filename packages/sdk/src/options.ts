/** How an {@link EnterpriseApi} reaches the API. */
export interface ClientOptions {
  /** `nwk_…` */
  apiKey: string;
  /** Where the API is, with a path if an ingress serves it below one: `https://api.example.com`. */
  baseUrl: string;
  /** For one attempt, from its start until its answer is whole; 30 s by default. Milliseconds. */
  timeoutMs?: number | undefined;
  /** How often a request that failed is made again where that is safe; 3 by default, 0 for never. */
  maxRetries?: number | undefined;
  /** A `Retry-After` beyond this is not waited for: the error is thrown at once. 60 s by default. Milliseconds. */
  maxRetryAfterMs?: number | undefined;
  /** Put before the SDK's own `User-Agent`: `acme-sync/1.4`. */
  userAgent?: string | undefined;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, its retries included: it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** In place of the client's. Milliseconds. */
  timeoutMs?: number | undefined;
  /** In place of the client's. */
  maxRetries?: number | undefined;
  /** Called with the final answer's status and headers: `etag`, `ratelimit`, `x-request-id`. */
  onResponse?: ((response: ResponseHead) => void) | undefined;
}

export interface ResponseHead {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  requestId: string | null;
}

/** What every POST takes. */
export interface PostOptions extends CallOptions {
  /**
   * Makes calls of several processes or of several runs one: the same key and body give the same answer for 24 hours.
   * By default each call has a key of its own, which its retries share.
   */
  idempotencyKey?: string | undefined;
}

/** What a change takes. */
export interface ChangeOptions extends CallOptions {
  /** The `etag` of the resource as it was read: a resource that has changed since is refused with `precondition_failed`. */
  ifMatch?: string | undefined;
}

/** {@link ClientOptions} with their defaults. */
export interface Settings {
  apiKey: string;
  /** Without a slash at its end. */
  baseUrl: string;
  timeoutMs: number;
  maxRetries: number;
  maxRetryAfterMs: number;
  userAgent: string | null;
}

/** @throws TypeError for options that no request could be made with */
export function checkOptions(options: ClientOptions): Settings {
  const { apiKey, timeoutMs = 30_000, maxRetries = 3, maxRetryAfterMs = 60_000, userAgent = null } = options;
  if (!isHeaderText(apiKey)) throw new TypeError('apiKey must be the whole API key, nwk_….');
  if (userAgent !== null && !isHeaderText(userAgent)) throw new TypeError('userAgent must be visible ASCII text.');
  if (!(maxRetries >= 0)) throw new TypeError('maxRetries must be a number from 0 on.');
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be a number above 0.');
  if (!(maxRetryAfterMs >= 0)) throw new TypeError('maxRetryAfterMs must be a number from 0 on.');
  return { apiKey, baseUrl: checkBaseUrl(options.baseUrl), timeoutMs, maxRetries, maxRetryAfterMs, userAgent };
}

function isHeaderText(text: unknown): boolean {
  return typeof text === 'string' && /^[\x20-\x7e]+$/.test(text) && text.trim() === text;
}

/** Without a slash at its end. */
function checkBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === null || !isPlain || !/^https?:$/.test(url.protocol))
    throw new TypeError(
      'baseUrl must be an http(s) URL without credentials, query or fragment: https://api.example.com',
    );
  return url.href.replace(/\/+$/, '');
}
