export * from './address-rules.ts';
export { canonicalAddress, canonicalCidr, cidrContains, parseCidr } from './cidr.ts';
export * from './delivery-headers.ts';
export * from './outbound-url.ts';
export * from './secret-box.ts';
export * from './settings.ts';
