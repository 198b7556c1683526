/** What the receiver wants to know of a request's head. */
export interface RequestHead {
  webhook: number;
  eventId: string;
  attempt: number;
  contentLength: number;
}

const webhookPath = /^[A-Z]+ \/w\/(\d+)/;
const lengthHeader = /\r\ncontent-length: *(\d+)/i;
const eventHeader = /\r\nx-service-event-id: *evt_([0-9a-z]{26})/i;
const attemptHeader = /\r\nx-service-attempt: *(\d+)/i;

const noEvent = '0'.repeat(26);

/** Reads the head of a request, as little of it as the benchmark needs. Webhooks are the numbers in paths `/w/17`. */
export function readHead(head: string): RequestHead {
  return {
    webhook: Number(webhookPath.exec(head)?.[1] ?? 0),
    eventId: eventHeader.exec(head)?.[1] ?? noEvent,
    attempt: Number(attemptHeader.exec(head)?.[1] ?? 1),
    contentLength: Number(lengthHeader.exec(head)?.[1] ?? 0),
  };
}
