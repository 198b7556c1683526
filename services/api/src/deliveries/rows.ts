import type { DeliveryStatus } from '@enterprise-api/shared/contracts';

export interface DeliveryRow {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  status: DeliveryStatus;
  attempt_count: number;
  max_attempts: number;
  next_attempt_at: Date | null;
  last_status_code: number | null;
  last_error: string | null;
  last_duration_ms: number | null;
  created_at: Date;
  completed_at: Date | null;
}

export interface AttemptRow {
  id: string;
  number: number;
  superseded: boolean;
  manual: boolean;
  started_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  error_message: string | null;
  excerpt: string | null;
  dns_ms: number | null;
  connect_ms: number | null;
  tls_ms: number | null;
  first_byte_ms: number | null;
  url: string;
}
