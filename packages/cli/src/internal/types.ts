import type { components } from '../generated/internal-openapi.ts';

// These types derive from docs/internal-openapi.json. If a field is missing here, it is missing there.
type Schemas = components['schemas'];

export type Organization = Schemas['Organization'];
export type ApiKey = Schemas['ApiKey'];
export type CreatedApiKey = Schemas['CreatedApiKey'];
export type AuditEntry = Schemas['AuditEntry'];
export type DatabaseLocks = Schemas['DatabaseLocks'];
export type DatabaseSession = Schemas['DatabaseSession'];
export type DatabaseSizes = Schemas['DatabaseSizes'];
export type DatabaseStatements = Schemas['DatabaseStatements'];
export type EmittedEvent = Schemas['EmittedEvent'];
export type Erasure = Schemas['Erasure'];
export type ErasureRecord = Schemas['ErasureRecord'];
export type InspectedDelivery = Schemas['InspectedDelivery'];
export type InspectedWebhook = Schemas['InspectedWebhook'];
export type QueueCounts = Schemas['QueueCounts'];
export type QueueJobs = Schemas['QueueJobs'];
export type Replay = Schemas['Replay'];
export type ReplayPreview = Schemas['ReplayPreview'];
export type Sending = Schemas['Sending'];
export type Stats = Schemas['Stats'];
