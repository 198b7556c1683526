export * from './address-rules.ts';
export { canonicalAddress, canonicalCidr, cidrContains, parseCidr } from './cidr.ts';
export * from './outbound-url.ts';
export * from './secret-box.ts';
export * from './settings.ts';
export * from './signing.ts';
