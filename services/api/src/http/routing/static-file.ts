import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { isUnchanged } from './etag.ts';
import { sendAnswer } from './respond.ts';

/** What is sent to everyone who asks for one path. It changes only with the program. */
export interface StaticFile {
  readonly contentType: string;
  readonly body: string;
  /** A strong tag of the body, with its quotes. */
  readonly etag: string;
}

/** @param type without a charset, which is UTF-8 */
export function staticFile(type: string, body: string): StaticFile {
  return { contentType: `${type}; charset=utf-8`, body, etag: `"${hash('sha256', body, 'hex').slice(0, 16)}"` };
}

/**
 * Sends a file, or 304 to a client that has it. Clients always ask again: in a rolling deployment a page of one version
 * must not meet the script of another.
 */
export function sendStaticFile(
  request: Request,
  response: Response,
  { contentType, body, etag }: StaticFile,
  more: Readonly<Record<string, string>> = {},
): void {
  const headers = { ETag: etag, 'Cache-Control': 'no-cache', ...more };
  const isKnown = isUnchanged(request.headers['if-none-match'], etag);
  sendAnswer(
    response,
    isKnown
      ? { status: 304, headers, body: null }
      : { status: 200, headers: { ...headers, 'Content-Type': contentType }, body },
  );
}
