/** How an {@link EnterpriseApi} connects to the API. */
export interface ClientOptions {
  /** `nwk_…`; the environment variable `ENTERPRISE_API_KEY` by default. */
  apiKey?: string | undefined;
  /**
   * The API's address, including a path if an ingress adds one: `https://api.example.com`. The environment variable
   * `ENTERPRISE_API_URL` by default.
   */
  baseUrl?: string | undefined;
  /** Time limit of one attempt until its answer is complete, in milliseconds; 30 s by default. */
  timeoutMs?: number | undefined;
  /** How many times a failed request is repeated if that is safe; 3 by default, 0 = never. */
  maxRetries?: number | undefined;
  /** If `Retry-After` is longer, the call fails at once. In milliseconds; 60 s by default. */
  maxRetryAfterMs?: number | undefined;
  /** Precedes the SDK's own `User-Agent`: `acme-sync/1.4`. */
  userAgent?: string | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call and its retries. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Replaces the client's `timeoutMs`, in milliseconds. */
  timeoutMs?: number | undefined;
  /** Replaces the client's `maxRetries`. */
  maxRetries?: number | undefined;
  /** Called with the final answer's status and headers: `etag`, `ratelimit`, `x-request-id`. */
  onResponse?: ((response: ResponseHead) => void) | undefined;
}

export interface ResponseHead {
  status: number;
  /** Header names are in lower case. */
  headers: Readonly<Record<string, string>>;
  requestId: string | null;
}

/** Options of every POST. */
export interface PostOptions extends CallOptions {
  /**
   * Identifies the call across processes and restarts: for 24 hours, the same key and body return the same answer. By
   * default, each call gets a new key, which its retries share.
   */
  idempotencyKey?: string | undefined;
}

/** Options of a change. */
export interface ChangeOptions extends CallOptions {
  /**
   * The `etag` of the resource that you read. If the resource has changed since, the API refuses with
   * `precondition_failed`.
   */
  ifMatch?: string | undefined;
}

/** {@link ClientOptions} with the defaults filled in. */
export interface Settings {
  apiKey: string;
  /** Has no trailing slash. */
  baseUrl: string;
  timeoutMs: number;
  maxRetries: number;
  maxRetryAfterMs: number;
  userAgent: string | null;
}

/** @throws TypeError for invalid or missing options */
export function checkOptions(options: ClientOptions): Settings {
  const apiKey = options.apiKey ?? fromEnvironment('apiKey', 'ENTERPRISE_API_KEY');
  const baseUrl = options.baseUrl ?? fromEnvironment('baseUrl', 'ENTERPRISE_API_URL');
  const { timeoutMs = 30_000, maxRetries = 3, maxRetryAfterMs = 60_000, userAgent = null } = options;
  if (!isHeaderText(apiKey)) throw new TypeError('apiKey must be the whole API key, nwk_….');
  if (userAgent !== null && !isHeaderText(userAgent)) throw new TypeError('userAgent must be visible ASCII text.');
  if (!(maxRetries >= 0)) throw new TypeError('maxRetries must be a number of at least 0.');
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be a number above 0.');
  if (!(maxRetryAfterMs >= 0)) throw new TypeError('maxRetryAfterMs must be a number of at least 0.');
  return { apiKey, baseUrl: checkBaseUrl(baseUrl), timeoutMs, maxRetries, maxRetryAfterMs, userAgent };
}

function fromEnvironment(option: string, variable: string): string {
  const value = process.env[variable];
  if (!value) throw new TypeError(`${option} is missing. Pass it, or set ${variable}.`);
  return value;
}

function isHeaderText(text: unknown): boolean {
  return typeof text === 'string' && /^[\x20-\x7e]+$/.test(text) && text.trim() === text;
}

/** Checks the URL, and removes a trailing slash. */
function checkBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === null || !isPlain || !/^https?:$/.test(url.protocol))
    throw new TypeError(
      'baseUrl must be an http(s) URL without credentials, query or fragment: https://api.example.com',
    );
  return url.href.replace(/\/+$/, '');
}
