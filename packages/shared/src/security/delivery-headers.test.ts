import { describe, expect, it } from '@jest/globals';
import { deliveryHeaders } from './delivery-headers.ts';

const input = {
  productVersion: '1.2.3',
  eventId: 'evt_1',
  eventType: 'batch.failed',
  deliveryId: 'dlv_1',
  attempt: 2,
  test: false,
  contentLength: 17,
};

describe('the headers of a delivery', () => {
  it('are complete, without signatures', () => {
    expect(deliveryHeaders({ ...input, timestampSeconds: 1_700_000_000 })).toEqual({
      'Content-Type': 'application/json',
      'Content-Length': '17',
      'User-Agent': 'enterprise-api-webhooks/1.2.3',
      'X-Service-Event': 'batch.failed',
      'X-Service-Event-Id': 'evt_1',
      'X-Service-Delivery-Id': 'dlv_1',
      'X-Service-Attempt': '2',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1700000000',
    });
  });

  it('mark a test', () => {
    expect(deliveryHeaders({ ...input, test: true, timestampSeconds: 1 })).toHaveProperty('X-Service-Test', 'true');
  });

  it('have no timestamp before the first attempt', () => {
    expect(deliveryHeaders({ ...input, timestampSeconds: null })).not.toHaveProperty('webhook-timestamp');
  });
});
