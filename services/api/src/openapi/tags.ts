export const tagDescriptions = {
  Account: 'The key of the caller, and its organization.',
  Webhooks: 'URLs that receive events.',
  Events: 'Facts about an organization, and their types.',
  Deliveries: 'Events on their way to webhooks: history, attempts, sending again.',
  Erasures: 'Data that was erased, and receipts of it.',
  Usage: 'Requests, events and deliveries of the organization, by time.',
  Organizations: 'Customers of the service, with their plans.',
  'API keys': 'Keys of organizations, with their scopes.',
  Operations: 'For operators: statistics of the whole service, pauses, inspection.',
  Audit: 'Changes, with their actors and times.',
  Identity: 'The caller of a forwarded request: identity tokens, and forward authentication.',
  Service: 'The service itself: its health, and this document.',
} as const satisfies Record<string, string>;

export type Tag = keyof typeof tagDescriptions;
