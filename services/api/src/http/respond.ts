import { errorCatalogue } from '@enterprise-api/shared/contracts';
import type { Response } from 'express';
import { type Problem, problemBody, problemHeaders, scimProblemBody } from './errors.ts';
import { exchangeOf } from './exchange.ts';

/** Sends JSON without Express's own `json()`, which would look for ETags and formats that we do not use. */
export function sendJson(response: Response, status: number, body: unknown, contentType = 'application/json'): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'Content-Type': `${contentType}; charset=utf-8`, 'Content-Length': bytes.length });
  response.end(bytes);
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
