import type { Family, ServicePortKey } from '../../../forwarding/model.ts';
import type { WireChange } from './protocol.ts';

/** `namespace/name:port` of `namespace/name:port/TCP/IPv4`. */
export function serviceOf(key: ServicePortKey): string {
  return key.split('/').slice(0, -2).join('/');
}

/** Whose it is: bounds are shared by namespace. */
export function namespaceOf(key: ServicePortKey): string {
  return key.slice(0, key.indexOf('/'));
}

export function familyOf(key: ServicePortKey): Family {
  return key.endsWith('/IPv6') ? 'IPv6' : 'IPv4';
}

export function keyOf(change: WireChange): ServicePortKey {
  if ('set' in change) return change.set.key;
  return 'delete' in change ? change.delete : change.change;
}
