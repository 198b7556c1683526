import got from 'got';

export interface HttpRequest {
  /** Any method, also one that no route has. */
  method: string;
  url: string | URL;
  headers?: Record<string, string>;
  /** Sent as it is, with any method. */
  body?: string | Buffer | undefined;
  /** 60 s by default. */
  withinMs?: number;
  signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  /** The parsed text of a JSON answer; undefined for any other. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert what an answer holds
  readonly body: any;
}

/** Sends one request over a kept-alive connection. Every status is an answer; only a failed exchange throws. */
export async function sendRequest(request: HttpRequest): Promise<HttpAnswer> {
  const { method, url, headers, body, signal, withinMs = 60_000 } = request;
  const answer = await got(url, {
    // The type knows the usual methods only; got sends any.
    method: method as 'POST',
    headers: { 'user-agent': undefined, ...headers },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
    allowGetBody: true,
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    decompress: false,
    timeout: { request: withinMs },
  });
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(answer.headers['content-type'] ?? '');
  const parsed = isJson && answer.body !== '' ? JSON.parse(answer.body) : undefined;
  return { status: answer.statusCode, headers: answer.headers, text: answer.body, body: parsed };
}
