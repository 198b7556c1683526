import { describe, expect, it } from '@jest/globals';
import { defineRoute } from '../http/routing/define-route.ts';
import { createRouteTable } from '../http/routing/route-table.ts';
import type { RequestContext } from '../http/server/request-context.ts';
import { undescribed } from '../testing/undescribed.ts';
import { createForwardAuthentication } from './forward-authentication.ts';

const notAsked = () => {
  throw new Error('not to be called');
};

describe('a request for a route that needs no key', () => {
  const open = { ...undescribed, scope: null, caller: 'anyone' } as const;
  const table = createRouteTable([defineRoute({ ...open, endpoint: 'GET /v1/open', handle: () => undefined })]);
  const authorize = createForwardAuthentication({ judge: notAsked, table, addressOf: notAsked, tokenFor: notAsked });
  const ask = (headersDistinct: Record<string, string[]>) =>
    authorize({ headersDistinct } as never, {} as RequestContext);
  const question = { 'x-forwarded-method': ['GET'], 'x-forwarded-uri': ['/v1/open'] };

  it('is granted without a look at its key, and says nothing of one', async () => {
    expect(await ask(question)).toEqual({});
  });

  it('would be granted again: its repeat is 503', async () => {
    expect(await ask({ ...question, 'x-authorize-repeat': ['1'] })).toEqual({ problem: 'service_unavailable' });
  });
});
