import type { RequestHandler } from 'express';
import { invalid } from '../../core/problem.ts';
import { sendProblem } from '../routing/respond.ts';
import { requestContextOf } from './request-context.ts';

/** Answers depend on the key: no cache may store them. */
export const forbidStorage: RequestHandler = (_request, response, next) => {
  requestContextOf(response).headers['Cache-Control'] = 'no-store';
  next();
};

/** Refuses HTTP/1.1 requests without `Host` (RFC 9112, section 3.2). */
export const requireHost: RequestHandler = (request, response, next) => {
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    sendProblem(response, invalid([{ location: 'header', path: 'Host', code: 'required', message: 'is required' }]));
  } else {
    next();
  }
};
