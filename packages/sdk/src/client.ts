import { createOpenStream } from './http/open-stream.ts';
import { createSend } from './http/transport.ts';
import { createOperations } from './operations.ts';
import { type ClientOptions, checkOptions } from './options.ts';
import { createRequest, type Request } from './request.ts';
import { createConsoleSessions } from './resources/console-sessions.ts';
import { createDeliveries } from './resources/deliveries.ts';
import { createErasures } from './resources/erasures.ts';
import { createEvents } from './resources/events.ts';
import { createMe } from './resources/me.ts';
import { createReplays } from './resources/replays.ts';
import { createUsage } from './resources/usage.ts';
import { createWebhooks } from './resources/webhooks.ts';

/**
 * A client of the API with one key. It keeps connections open, can be shared, and needs no closing. Methods reject with
 * `ApiError` if the API refuses, with `ConnectionError` if no answer arrives, and with `TypeError` for invalid
 * arguments.
 */
export class EnterpriseApi {
  readonly me: ReturnType<typeof createMe>;
  readonly webhooks: ReturnType<typeof createWebhooks>;
  readonly deliveries: ReturnType<typeof createDeliveries>;
  readonly replays: ReturnType<typeof createReplays>;
  readonly events: ReturnType<typeof createEvents>;
  readonly erasures: ReturnType<typeof createErasures>;
  readonly consoleSessions: ReturnType<typeof createConsoleSessions>;
  readonly usage: ReturnType<typeof createUsage>;
  /** Calls any path, such as a path of another service behind the API: `request('POST', '/v1/consultations', { body })`. */
  readonly request: Request;

  /** @throws TypeError for invalid or missing options */
  constructor(options: ClientOptions = {}) {
    const settings = checkOptions(options);
    const send = createSend(settings);
    const operations = createOperations(send);
    this.me = createMe(operations);
    this.webhooks = createWebhooks(operations);
    this.deliveries = createDeliveries(operations);
    this.replays = createReplays(operations);
    this.events = createEvents(operations, createOpenStream(settings));
    this.erasures = createErasures(operations);
    this.consoleSessions = createConsoleSessions(operations);
    this.usage = createUsage(operations);
    this.request = createRequest(send);
  }
}
