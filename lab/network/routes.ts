import type { AddressPair } from './plan.ts';

/** Lines for `ip -batch`, one for each family. */
export function routesVia(destination: AddressPair, gateway: AddressPair): string[] {
  return [
    `route add ${destination.ipv4} via ${gateway.ipv4}`,
    `route add ${destination.ipv6} via ${gateway.ipv6}`,
  ];
}
