import type { RequestHandler } from 'express';
import { invalid } from '../../core/problem.ts';
import { sendProblem } from '../routing/respond.ts';
import { exchangeOf } from './request-context.ts';

/** Answers that depend on a key are for nobody's cache. */
export const forbidStorage: RequestHandler = (_request, response, next) => {
  exchangeOf(response).headers['Cache-Control'] = 'no-store';
  next();
};

/** HTTP/1.1 demands it (RFC 9112, section 3.2). */
export const requireHost: RequestHandler = (request, response, next) => {
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    sendProblem(response, invalid([{ location: 'header', path: 'Host', code: 'required', message: 'is required' }]));
  } else {
    next();
  }
};
