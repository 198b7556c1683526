export const tagDescriptions = {
  Account: 'The key of the caller, and its organization.',
  Webhooks: 'URLs that receive events.',
  Events: 'What happened, and the types of events.',
  Deliveries: 'Events on their way to webhooks: history, attempts, sending again.',
  Erasures: 'Data that was erased, and receipts of it.',
  Usage: 'What the organization has used.',
  Organizations: 'Customers of the service, with their plans.',
  'API keys': 'Keys of organizations, with their scopes.',
  Operations: 'What operators see and do: pausing deliveries, figures of the whole service.',
  Audit: 'Who changed what, and when.',
  Identity: 'Whose request a forwarded request is: identity tokens, and forward authentication.',
  Service: 'The service itself: its health, and this document.',
} as const satisfies Record<string, string>;

export type Tag = keyof typeof tagDescriptions;
