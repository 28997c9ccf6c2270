import { externalAddress } from '../../lab/network/plan.ts';
import { readyEndpoint, SERVE_PORT, SERVICE_PORT, sliceLabels } from '../site/names.ts';
import type { Shape } from './shapes.ts';

/** The endpoint slice controller fills a slice up to so many. */
const ENDPOINTS_PER_SLICE = 100;
const FIRST_PORT = 1_000;
/** Serials of endpoints that replace others begin here; no shape has that many at the start. */
const FIRST_REPLACEMENT = 6 * 65_536;

/** Every address of it answers, by one pod: 10.240.0.0 to 10.247.255.255. */
export const ENDPOINT_CIDR = '10.240.0.0/13';
export const INGRESS_ADDRESS = externalAddress(40_000).ipv4;

function endpointAddress(serial: number): string {
  return `10.${240 + (serial >> 16)}.${(serial >> 8) & 0xff}.${serial & 0xff}`;
}

/** An address that no endpoint has had; the n-th. */
export function replacementAddress(count: number): string {
  return endpointAddress(FIRST_REPLACEMENT + count);
}

function serviceName(index: number): string {
  return `large-${String(index).padStart(3, '0')}`;
}

function portsOf({ ports }: Shape): { name: string; port: number }[] {
  if (ports === 1) return [{ name: 'http', port: SERVICE_PORT }];
  return Array.from({ length: ports }, (_, index) => ({
    name: `p${index}`,
    port: FIRST_PORT + index,
  }));
}

function externalIpsOf({ externalIps }: Shape): string[] {
  return Array.from({ length: externalIps }, (_, index) => externalAddress(index + 1).ipv4);
}

export function serviceObject(shape: Shape, index: number): object {
  const ports = portsOf(shape).map(({ name, port }) => ({
    name,
    protocol: 'TCP',
    port,
    targetPort: SERVE_PORT,
  }));
  return {
    metadata: { name: serviceName(index) },
    spec: {
      ports,
      ...(shape.externalIps > 0 ? { externalIPs: externalIpsOf(shape) } : {}),
      ...(shape.sourceRanges > 0
        ? {
            type: 'LoadBalancer',
            allocateLoadBalancerNodePorts: false,
            loadBalancerSourceRanges: sourceRanges(shape.sourceRanges),
          }
        : {}),
    },
  };
}

/** Every second address of a block: no two of them make a larger range. */
function sourceRanges(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const host = index * 2;
    return `100.${64 + (host >> 16)}.${(host >> 8) & 0xff}.${host & 0xff}/32`;
  });
}

export interface SliceObject {
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
  readonly addressType: 'IPv4';
  readonly endpoints: readonly object[];
  readonly ports: readonly object[];
}

export function slicesOf(shape: Shape, index: number): SliceObject[] {
  const ports = portsOf(shape).map(({ name }) => ({ name, protocol: 'TCP', port: SERVE_PORT }));
  const count = Math.ceil(shape.endpointsPerService / ENDPOINTS_PER_SLICE);
  return Array.from({ length: count }, (_, slice) => {
    const length = Math.min(ENDPOINTS_PER_SLICE, shape.endpointsPerService);
    const first = index * shape.endpointsPerService + slice * ENDPOINTS_PER_SLICE;
    return {
      metadata: {
        name: `${serviceName(index)}-${slice}`,
        labels: sliceLabels(serviceName(index)),
      },
      addressType: 'IPv4',
      endpoints: Array.from({ length }, (_, offset) =>
        readyEndpoint(endpointAddress(first + offset), 'elsewhere-a'),
      ),
      ports,
    };
  });
}
