import type { components } from '../../../sdk/src/generated/openapi.ts';

// The shapes of docs/openapi.json, and those that the console's own routes add.
type Schemas = components['schemas'];

export type Attempt = Schemas['Attempt'];
export type Delivery = Schemas['Delivery'];
export type DeliveryDetail = Schemas['DeliveryDetail'];
export type Event = Schemas['Event'];
export type EventTypeEntry = Schemas['EventTypeEntry'];
export type ExplainedWebhook = Schemas['ExplainedWebhook'];
export type Explanation = Schemas['Explanation'];
export type Replay = Schemas['Replay'];
export type ReplayPreview = Schemas['ReplayPreview'];
export type SignatureCheck = Schemas['SignatureCheck'];
export type Statistics = Schemas['WebhookStatistics'];
export type Usage = Schemas['Usage'];
export type Webhook = Schemas['Webhook'];
export type WebhookHealth = Schemas['WebhookHealth'];
export type WebhookHealthSummary = Schemas['WebhookHealthSummary'];
export type WebhookWithSecret = Schemas['WebhookWithSecret'];
export type ErrorBody = Schemas['Error'];

export interface List<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

/** A page of a search says how far the search looked. */
export type ScannedList<Item> = List<Item> & { searched_until?: string | null };

export interface Session {
  id: string;
  label: string | null;
  scopes: string[];
  show_bodies: boolean;
  expires_at: string;
  link_reused_at: string | null;
  organization: { id: string; name: string; plan: string; body_retention_seconds?: number | null };
}

export interface Configuration {
  sign_in_url: string | null;
  brand: { name: string; logo: string | null } | null;
}

export interface ApiKey {
  id: string;
  name: string | null;
  key_prefix: string;
  scopes: string[];
  ip_allowlist: string[] | null;
  ip_allowlist_mode: 'enforce' | 'report';
  outside_allowlist: { count: number; last_at: string | null; addresses: string[] } | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  last_used_address: string | null;
  last_used_user_agent: string | null;
  secret?: string;
}

export interface AuditEntry {
  id: string;
  actor: string;
  action: string;
  object_type: string;
  object_id: string | null;
  changed_fields: string[];
  changes: Record<string, { from: unknown; to: unknown }>;
  created_at: string;
}
