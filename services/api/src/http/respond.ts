import { errorCatalogue } from '@enterprise-api/shared/contracts';
import type { Response } from 'express';
import { type Problem, problemBody, problemHeaders, scimProblemBody } from './errors.ts';
import { exchangeOf } from './exchange.ts';

/** Sends JSON without Express's own `json()`, which would look for ETags and formats that we do not use. */
export function sendJson(response: Response, status: number, body: unknown, contentType = 'application/json'): void {
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  response.writeHead(status, { 'Content-Type': `${contentType}; charset=utf-8`, 'Content-Length': length });
  // As a string, it leaves in one write with the head.
  response.end(text);
}

export function sendNothing(response: Response): void {
  response.writeHead(204);
  response.end();
}

const scimPath = /^\/scim\/v2(?:[/?]|$)/;

/** The one place that turns a problem into an answer. */
export function sendProblem(response: Response, found: Problem): void {
  const exchange = exchangeOf(response);
  exchange.errorCode = found.problem;
  for (const [name, value] of Object.entries(problemHeaders(found))) response.setHeader(name, value);
  const { status } = errorCatalogue[found.problem];
  if (scimPath.test(response.req.originalUrl)) {
    sendJson(response, status, scimProblemBody(found, exchange.requestId), 'application/scim+json');
  } else {
    sendJson(response, status, problemBody(found, exchange.requestId));
  }
}
