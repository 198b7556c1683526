/** What the internal listener answers, as far as it is printed in columns. */
export interface Organization {
  id: string;
  object: 'organization';
  name: string;
  plan: string;
  external_id: string | null;
  created_at: string;
}

export interface ApiKey {
  id: string;
  object: 'api_key';
  organization_id: string;
  name: string;
  key_prefix: string;
  scopes: string[];
  ip_allowlist: string[] | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

export interface CreatedApiKey extends ApiKey {
  /** The key itself: only the answer to its creation holds it. */
  secret: string;
}

export interface AuditEntry {
  id: string;
  object: 'audit_entry';
  actor: string;
  action: string;
  object_id: string;
  organization_id: string;
  request_id: string | null;
  on_behalf_of: string | null;
  changes: Record<string, { from: unknown; to: unknown }>;
  created_at: string;
}

export interface EmittedEvent {
  id: string;
  type: string;
  organization_id: string;
  duplicate: boolean;
}
