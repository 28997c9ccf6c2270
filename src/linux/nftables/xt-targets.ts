import { be16 } from './listed-expressions.ts';
import type { TableFamily } from './protocol.ts';
import type { Binary } from './userdata.ts';
import { xtTarget } from './xt-expressions.ts';
import { filled, host32 } from './xt-struct.ts';

/** Structs of targets (uapi/linux/netfilter/xt_*.h, nf_nat.h), as iptables 1.8.9 fills them. */

const mark = xtTarget({ name: 'MARK', revision: 2, byteLength: 8 });

/** The mark without the bits of `mask`, then with those of `mark` turned over. */
export function markTarget(to: { readonly mark: number; readonly mask: number }): Binary {
  return mark(host32(to.mark) + host32(to.mask));
}

const NAT_RANGE = { addresses: 1, ports: 2, fullyRandom: 0x10 } as const;
const RANGE_ADDRESS_BYTES = 16;
const destinationNat = xtTarget({ name: 'DNAT', revision: 2, byteLength: 48 });

/** `address` is four or sixteen bytes. */
export function destinationNatTarget(address: Binary, port: number | undefined): Binary {
  const flags = NAT_RANGE.addresses | (port === undefined ? 0 : NAT_RANGE.ports);
  const one = filled(address, RANGE_ADDRESS_BYTES);
  const ports = be16(port ?? 0);
  return destinationNat(host32(flags) + one + one + ports + ports);
}

const masquerade = {
  ip: xtTarget({ name: 'MASQUERADE', revision: 0, byteLength: 24 }),
  ip6: xtTarget({ name: 'MASQUERADE', revision: 0, byteLength: 40 }),
} as const;

/** For IPv4 it has a list of ranges, with exactly one. */
export function masqueradeTarget(family: TableFamily, isFullyRandom: boolean): Binary {
  const flags = host32(isFullyRandom ? NAT_RANGE.fullyRandom : 0);
  return masquerade[family](family === 'ip' ? host32(1) + flags : flags);
}

const REJECTIONS: Readonly<Record<TableFamily, Readonly<Record<string, number>>>> = {
  ip: { 'icmp-port-unreachable': 3 },
  ip6: { 'icmp6-port-unreachable': 4 },
};

const reject = xtTarget({ name: 'REJECT', revision: 0, byteLength: 8 });

/** Undefined: a reject type that it does not support. */
export function rejectTarget(family: TableFamily, answer: string): Binary | undefined {
  const number = REJECTIONS[family][answer];
  return number === undefined ? undefined : reject(host32(number));
}
