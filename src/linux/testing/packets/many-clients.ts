import { ipv6Packet, PROTOCOL, udpDatagram } from './build.ts';
import type { Tun } from './tun.ts';

const SOURCE_END = 24;
const PAYLOAD = 48;

/** Sends the first packet of a flow from any address of one IPv6 /96, thousands in a moment. */
export class ManyClients {
  readonly #wire: Tun;
  readonly #packet: Buffer;

  /** `network`: `fd44:9::`, whose last 32 bits are the number of the client. */
  constructor(wire: Tun, clients: { network: string; destination: string; sourcePort: number }) {
    this.#wire = wire;
    const { network, destination, sourcePort } = clients;
    const ends = { source: network, destination, sourcePort, destinationPort: 80 };
    const payload = udpDatagram(ends, Buffer.alloc(4, 0xff));
    this.#packet = ipv6Packet(ends, PROTOCOL.udp, { payload });
  }

  /** The payload is the complement of the address, so the checksum stays what it is. */
  send(client: number): void {
    this.#packet.writeUInt32BE(client >>> 0, SOURCE_END - 4);
    this.#packet.writeUInt32BE(~client >>> 0, PAYLOAD);
    this.#wire.send(this.#packet);
  }

  sendAll(from: number, count: number): void {
    for (let client = from; client < from + count; client++) this.send(client);
  }
}
