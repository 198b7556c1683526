import type { Database } from '@enterprise-api/shared/ledger';
import { insertOrganization, insertWebhook } from '@enterprise-api/testkit';

export interface Subscriptions {
  /** UUIDs. */
  organizationIds: string[];
  /** UUIDs; the index of each is its number in the receiver's log. */
  webhookIds: string[];
}

/**
 * Makes organizations with the same number of webhooks each. Every webhook has a number, in its path, and an address of its own.
 */
export async function subscribe(
  db: Database,
  receiverPort: number,
  shape: { organizations: number; webhooks: number },
): Promise<Subscriptions> {
  const organizationIds: string[] = [];
  const webhookIds: string[] = [];
  await db.transaction().execute(async (trx) => {
    for (let index = 0; index < shape.organizations; index++) {
      const organizationId = await insertOrganization(trx);
      organizationIds.push(organizationId);
      for (let each = 0; each < shape.webhooks; each++) {
        const number = webhookIds.length;
        const url = `https://${addressOf(number)}:${receiverPort}/w/${number}`;
        webhookIds.push(await insertWebhook(trx, { organizationId, url }));
      }
    }
  });
  return { organizationIds, webhookIds };
}

/** The receiver listens on 1,000 loopback addresses, 127.1.0.1 to 127.1.9.100: 1,000 origins on one machine. */
export const addressesPerNetwork = 100;
export const networks = Array.from({ length: 10 }, (_, index) => `127.1.${index}`);

/** The address of the n-th webhook's host, from 0 on. */
export function addressOf(number: number): string {
  const network = networks[Math.floor(number / addressesPerNetwork) % networks.length];
  return `${network}.${(number % addressesPerNetwork) + 1}`;
}

export function networkOf(address: string): string {
  return address.slice(0, address.lastIndexOf('.'));
}
