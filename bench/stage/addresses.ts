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
