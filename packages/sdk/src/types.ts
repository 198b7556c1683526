import type { components, operations } from './generated/openapi.ts';

// All types derive from docs/openapi.json. If a field is missing here, it is missing there.
type Schemas = components['schemas'];

export type Attempt = Schemas['Attempt'];
export type Delivery = Schemas['Delivery'];
export type DeliveryDetail = Schemas['DeliveryDetail'];
export type DeliveryPolicy = Schemas['DeliveryPolicy'];
export type DeliveryStatus = Schemas['DeliveryStatus'];
export type ConsoleSession = Schemas['ConsoleSession'];
export type ConsoleSessionWithUrl = Schemas['ConsoleSessionWithUrl'];
export type Erasure = Schemas['Erasure'];
export type Event = Schemas['Event'];
export type EventTypeEntry = Schemas['EventTypeEntry'];
export type ExplainedWebhook = Schemas['ExplainedWebhook'];
export type Explanation = Schemas['Explanation'];
export type Me = Schemas['Me'];
export type Replay = Schemas['Replay'];
export type ReplayPreview = Schemas['ReplayPreview'];
export type SignatureCheck = Schemas['SignatureCheck'];
export type SourceAddresses = Schemas['SourceAddresses'];
export type Usage = Schemas['Usage'];
export type Webhook = Schemas['Webhook'];
export type WebhookHealth = Schemas['WebhookHealth'];
export type WebhookHealthSummary = Schemas['WebhookHealthSummary'];
export type WebhookStatistics = Schemas['WebhookStatistics'];
export type WebhookWithSecret = Schemas['WebhookWithSecret'];

export type ApiErrorBody = Schemas['Error'];
export type ApiErrorCode = Schemas['ErrorCode'];
export type ApiErrorDetail = Schemas['ErrorDetail'];
export type ApiErrorType = Schemas['ErrorType'];

/** An RFC 3339 text, or a Date. */
export type Instant = string | Date;

export type CreateConsoleSession = Input<Schemas['CreateConsoleSession']>;
export type CreateWebhook = Input<Schemas['CreateWebhook']>;
export type UpdateWebhook = Input<Schemas['UpdateWebhook']>;
export type PauseWebhook = Input<Schemas['PauseWebhook']>;
export type ResumeWebhook = Input<Schemas['ResumeWebhook']>;
export type RotateSecret = Input<Schemas['RotateSecret']>;
export type ExplainType = Input<Schemas['ExplainType']>;
export type TestWebhook = Input<Schemas['TestWebhook']>;
export type VerifySignature = Schemas['VerifySignature'];
export type ReplayRequest = Input<Schemas['ReplayRequest']>;

export type ExplainEvent = QueryOf<'explainEvent'>;
export type ListEvents = QueryOf<'listEvents'>;
export type ListWebhooks = QueryOf<'listWebhooks'>;
export type ListDeliveries = QueryOf<'listDeliveries'>;
export type ListReplays = QueryOf<'listReplays'>;
export type ListConsoleSessions = QueryOf<'listConsoleSessions'>;
export type ListErasures = QueryOf<'listOwnErasures'>;
export type GetUsage = QueryOf<'getUsage'>;
export type GetWebhookStatistics = QueryOf<'getWebhookStatistics'>;
export type ListWebhookHealth = QueryOf<'listWebhookHealth'>;

/** Parameters as a caller may write them: optional ones may be undefined, and times may be Dates. */
type Input<Body> = {
  [Name in keyof Body]: Given<Name, Body[Name]> | (undefined extends Body[Name] ? undefined : never);
};

type QueryOf<Id extends keyof operations> = Queried<NonNullable<operations[Id]['parameters']['query']>>;

/** A repeatable parameter may be a list or a single value. */
type Queried<Query> = { [Name in keyof Query]?: Given<Name, Query[Name]> | ItemOf<Query[Name]> | undefined };

type Given<Name, Value> = Name extends 'since' | 'until'
  ? Instant
  : NonNullable<Value> extends unknown[]
    ? ItemOf<Value>[]
    : Value;

/** These catalogues grow: a newer service may use names that this version does not know. */
type ItemOf<Value> = NonNullable<Value> extends (infer Item)[] ? Item | (string & {}) : never;
