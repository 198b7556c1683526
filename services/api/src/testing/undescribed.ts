import type { RouteDescription } from '../http/routing/define-route.ts';

/** Stands in a test's own route for what documents would say of it. */
export const undescribed: RouteDescription = {
  operationId: 'aRouteOfATest',
  tag: 'Service',
  summary: 'A route of a test',
  errors: [],
};
