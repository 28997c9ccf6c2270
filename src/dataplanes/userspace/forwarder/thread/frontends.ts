import { parseIp } from '../../../../addresses/ip.ts';
import { SOURCE_CLASSES, type SourceClass } from '../../../../forwarding/model.ts';
import { IPV4_OFFSET, IPV6_OFFSET } from '../../../../linux/sockets/socket-address.ts';
import type { FrontendQuestion } from '../messages.ts';
import type { List } from './lists.ts';

/** Address (32 bits), port (16) and source class (2) of IPv4 fit into one number. */
const PORT_FACTOR = 4;
const ADDRESS_FACTOR = 65_536 * PORT_FACTOR;

export interface FrontendTarget {
  readonly list: List;
  readonly masquerade: boolean;
  readonly isSticky: boolean;
}

/** An original destination as one source class sees it. */
export interface Frontend {
  readonly address: string;
  readonly port: number;
  readonly source: SourceClass;
  /** Undefined: the main thread has not answered. */
  target: FrontendTarget | undefined;
}

export function unaskedFrontend({ address, port, source }: FrontendQuestion): Frontend {
  return { address, port, source, target: undefined };
}

/** Frontends that were asked for, found by their socket address without making a string. */
export class Frontends {
  readonly #ipv4 = new Map<number, Frontend>();
  readonly #ipv6 = new Map<string, Frontend>();

  /** By the bytes of a socket address and the index of the source class. */
  find(address: Buffer, isIPv6: boolean, source: number): Frontend | undefined {
    if (isIPv6) return this.#ipv6.get(ipv6Key(address, source));
    const port = ((address[2] as number) << 8) | (address[3] as number);
    return this.#ipv4.get(
      ipv4Of(address, IPV4_OFFSET) * ADDRESS_FACTOR + port * PORT_FACTOR + source,
    );
  }

  get(question: FrontendQuestion): Frontend | undefined {
    const key = keyOf(question);
    return typeof key === 'number' ? this.#ipv4.get(key) : this.#ipv6.get(key);
  }

  add(question: FrontendQuestion): Frontend {
    const frontend = unaskedFrontend(question);
    const key = keyOf(question);
    if (typeof key === 'number') this.#ipv4.set(key, frontend);
    else this.#ipv6.set(key, frontend);
    return frontend;
  }

  delete(question: FrontendQuestion): void {
    const key = keyOf(question);
    if (typeof key === 'number') this.#ipv4.delete(key);
    else this.#ipv6.delete(key);
  }
}

/** Without a sign. */
export function ipv4Of(bytes: Uint8Array, at: number): number {
  const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] as [
    number,
    number,
    number,
    number,
  ];
  return a * 0x100_0000 + ((b << 16) | (c << 8) | d);
}

function ipv6Key(address: Buffer, source: number): string {
  return `${address.toString('latin1', 2, 4)}${address.toString('latin1', IPV6_OFFSET, IPV6_OFFSET + 16)}${source}`;
}

function keyOf({ address, port, source }: FrontendQuestion): number | string {
  const ip = parseIp(address);
  if (ip === undefined) throw new RangeError(`'${address}' is not an IP address`);
  const index = SOURCE_CLASSES.indexOf(source);
  if (ip.version === 4) return ipv4Of(ip.bytes, 0) * ADDRESS_FACTOR + port * PORT_FACTOR + index;
  const bytes = Buffer.alloc(28);
  bytes.writeUInt16BE(port, 2);
  bytes.set(ip.bytes, IPV6_OFFSET);
  return ipv6Key(bytes, index);
}
