export { EnterpriseApi } from './client.ts';
export {
  ApiError,
  type ApiErrorFields,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from './errors.ts';
export type { Query } from './http/target.ts';
export { createList, type List, type Page } from './list.ts';
export type { CallOptions, ChangeOptions, ClientOptions, PostOptions, ResponseHead } from './options.ts';
export type { ApiResponse, Request, RequestOptions } from './request.ts';
export type { StreamedEvent, StreamOptions, UnverifiedEvent } from './stream/options.ts';
export type * from './types.ts';
