import { testInternalSecret as internalSecret, type ServiceProcess, sendRequest } from '@enterprise-api/testkit';

/** Requests that are refused, with secrets wherever a client may put them by mistake. */
export async function provoke(api: ServiceProcess, key: string, organizationId: string): Promise<string[]> {
  const bearer = { authorization: `Bearer ${key}` };
  const json = { 'content-type': 'application/json' };
  const requests: [url: string, options: { method?: string; headers?: Record<string, string>; body?: string }][] = [
    [`${api.url}/v1/me?api_key=${key}`, { headers: bearer }],
    [`${api.url}/v1/webhooks?cursor=${key}`, { headers: bearer }],
    [`${api.url}/v1/me`, { headers: { authorization: `Basic ${key}` } }],
    [`${api.url}/v1/me`, { headers: { authorization: `Bearer ${key}0` } }],
    [`${api.url}/v1/me`, { headers: { authorization: `${bearer.authorization}, ${bearer.authorization}` } }],
    [`${api.url}/v1/me`, { headers: { 'x-request-id': key } }],
    [`${api.url}/v1/webhooks/whk_x`, { headers: { ...bearer, 'if-match': `"${key}"` } }],
    [`${api.url}/v1/webhooks`, { method: 'POST', headers: { ...bearer, ...json }, body: `{"url":"${key}` }],
    [
      `${api.url}/v1/webhooks`,
      { method: 'POST', headers: { ...bearer, ...json }, body: `{"url":"http://${key}.example/","events":["${key}"]}` },
    ],
    [`${api.url}/v1/webhooks`, { method: 'POST', headers: { ...bearer, 'content-type': key }, body: key }],
    [`${api.internalUrl}/internal/v1/organizations`, { headers: { authorization: `Bearer ${internalSecret}x` } }],
    [
      `${api.internalUrl}/internal/v1/organizations?secret=${internalSecret}`,
      { headers: { authorization: `Bearer ${internalSecret}` } },
    ],
    [
      `${api.internalUrl}/internal/v1/organizations/${organizationId}/keys`,
      { headers: { authorization: `Bearer ${internalSecret}` } },
    ],
  ];
  return Promise.all(
    requests.map(async ([url, request]) => {
      const { status, headers, text } = await sendRequest({ method: 'GET', url, ...request });
      return `${status} ${JSON.stringify(headers)} ${text}`;
    }),
  );
}
