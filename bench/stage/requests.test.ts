import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { seededRandom } from './random.ts';
import { eventRequests, payload } from './requests.ts';

describe('payload', () => {
  it('is JSON of exactly the given size', () => {
    for (const bytes of [1_024, 20_480]) {
      const text = payload(bytes, seededRandom(3));
      expect(Buffer.byteLength(text)).toBe(bytes);
      expect(JSON.parse(text)).toEqual({ consultation_id: 'con_1', text: expect.any(String) });
    }
  });
});

describe('eventRequests', () => {
  it('has whole requests: several texts for one organization, one for each of many', () => {
    const ids = Array.from({ length: 3 }, newUuid);
    expect(eventRequests(ids.slice(0, 1), 1_024)).toHaveLength(16);
    const requests = eventRequests(ids, 1_024).map((bytes) => Buffer.from(bytes).toString());
    expect(requests).toHaveLength(3);
    requests.forEach((request, index) => {
      const [head = '', body = ''] = request.split('\r\n\r\n');
      expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
      expect(JSON.parse(body).organization_id).toBe(toPublicId('org', ids[index] as string));
    });
  });
});
