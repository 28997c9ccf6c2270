import { contains, parseCidr } from '../../addresses/cidr.ts';
import { parseIp } from '../../addresses/ip.ts';
import { isLoopbackIp } from '../../addresses/loopback.ts';
import type { Family, SourceClass } from '../model.ts';
import { isOwnAddress, type Place, type PodDetection } from './place.ts';

/** Where a connection comes from, as the rules see it. */
export interface Source {
  readonly class: SourceClass;
  /** Canonical; undefined: any address of its class. */
  readonly address?: string;
  /** Why it is of this class. */
  readonly because: string;
}

/** Any client of a class. */
export function sourceOfClass(given: SourceClass, family: Family, place: Place): Source {
  if (given === 'host') return sourceOfHost(family, place);
  return { class: given, because: CLASS_TEXT[given] };
}

/** The node itself, with its main address of the family where that is known. */
function sourceOfHost(family: Family, place: Place): Source {
  const address = place.view.nodeIPs.find((ip) => familyOf(ip) === family);
  const because = 'a connection that starts on this node';
  if (address === undefined) return { class: 'host', because };
  const sign = place.facts.podDetection[family];
  // Rules compare addresses: a node inside the range of its pods counts as one of them.
  return isInRange(address, sign)
    ? { class: 'pod', address, because: inRangeText(address, sign) }
    : { class: 'host', address, because };
}

/** A client by its address. `isPodHere`: it is known to be a pod of this node. */
export function sourceAt(address: string, place: Place, isPodHere = false): Source {
  const sign = place.facts.podDetection[familyOf(address)];
  if (isInRange(address, sign)) {
    return { class: 'pod', address, because: inRangeText(address, sign) };
  }
  if (isOwnAddress(address, place) || isLoopbackIp(address)) {
    return { class: 'host', address, because: `${address} is an address of this node` };
  }
  if (sign === undefined) {
    const because = 'pods of this node cannot be told from other clients (detectLocalMode)';
    return { class: isPodHere ? 'pod' : 'outside', address, because };
  }
  if (sign.by === 'cidr') {
    const because = `${address} is not in ${sign.cidr}, the range of pods`;
    return { class: 'outside', address, because };
  }
  const because = `pods of this node come in by ${interfaceText(sign)}`;
  if (isPodHere) return { class: 'pod', address, because };
  return {
    class: 'outside',
    address,
    because: `${because}, which an address does not show: taken for a client outside`,
  };
}

const CLASS_TEXT: Readonly<Record<'pod' | 'outside', string>> = {
  pod: 'any pod of this node',
  outside: 'any client that is neither a pod of this node nor the node itself',
};

function isInRange(
  address: string,
  sign: PodDetection | undefined,
): sign is PodDetection & { by: 'cidr' } {
  if (sign?.by !== 'cidr') return false;
  const [range, ip] = [parseCidr(sign.cidr), parseIp(address)];
  return range !== undefined && ip !== undefined && contains(range, ip);
}

function inRangeText(address: string, { cidr }: { readonly cidr: string }): string {
  return `${address} is in ${cidr}, the range of pods`;
}

function interfaceText(sign: Exclude<PodDetection, { by: 'cidr' }>): string {
  return sign.by === 'interface' ? `interface ${sign.name}` : `interfaces ${sign.prefix}*`;
}

export function familyOf(address: string): Family {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}
