/** The parts of a request's head that the receiver uses. */
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

/** Reads only what the benchmark needs of a request's head. A webhook is the number in its path, `/w/17`. */
export function readHead(head: string): RequestHead {
  return {
    webhook: Number(webhookPath.exec(head)?.[1] ?? 0),
    eventId: eventHeader.exec(head)?.[1] ?? noEvent,
    attempt: Number(attemptHeader.exec(head)?.[1] ?? 1),
    contentLength: Number(lengthHeader.exec(head)?.[1] ?? 0),
  };
}
