import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { isUnchanged, notModified } from './etag.ts';
import { sendAnswer } from './respond.ts';

/**
 * A page may load its own style, script and icon, and its script may call this origin. The policy forbids inline scripts
 * and styles, plug-ins, form submissions, frames around the page, and text that becomes markup.
 */
export const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** A file that is the same for every client and changes only with the program's version. */
export interface StaticFile {
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly etag: string;
}

/** @param type media type without a charset; the charset is UTF-8 */
export function staticFile(type: string, body: string): StaticFile {
  return fileOf(`${type}; charset=utf-8`, body);
}

export function fileOf(contentType: string, body: string | Buffer): StaticFile {
  return { contentType, body, etag: `"${hash('sha256', body, 'hex').slice(0, 16)}"` };
}

/**
 * Sends a file, or 304 if the client already has this version of the file. Clients always revalidate: in a rolling
 * deployment a page of one version must not load another version's script.
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
      ? { status: notModified, headers, body: null }
      : { headers: { ...headers, 'Content-Type': contentType }, body },
  );
}
