import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { ADDRESS_BYTES, fillAddress } from './address.ts';
import type { Destination, IpvsWrite, VirtualServer, VirtualServerKey } from './ipvs-model.ts';
import * as ipvs from './ipvs-protocol.ts';
import { flagBits } from './service-flags.ts';

type DestinationWrite = Extract<IpvsWrite, { readonly destination: Destination }>;

const COMMAND: Readonly<Record<IpvsWrite['do'], number>> = {
  'add-server': ipvs.CMD_NEW_SERVICE,
  'set-server': ipvs.CMD_SET_SERVICE,
  'delete-server': ipvs.CMD_DEL_SERVICE,
  'add-destination': ipvs.CMD_NEW_DEST,
  'set-destination': ipvs.CMD_SET_DEST,
  'delete-destination': ipvs.CMD_DEL_DEST,
};
const ALL_BITS = 0xffffffff;
/** One client is one address: a mask for IPv4, a prefix length for IPv6. */
const WHOLE_ADDRESS = { [ipvs.AF_INET]: ALL_BITS, [ipvs.AF_INET6]: 128 } as const;

/** Writes messages of the family IPVS into one buffer. */
export class IpvsEncoder {
  readonly #writer = new NetlinkWriter();
  readonly #family: number;
  readonly #address = new Uint8Array(ADDRESS_BYTES);
  readonly #u16 = new Uint8Array(2);
  readonly #flags = Buffer.alloc(8, 0xff);
  readonly #header = Uint8Array.of(0, ipvs.FAMILY_VERSION, 0, 0);
  readonly #templates = new Map<IpvsWrite['do'], DestinationTemplate>();
  #last = 0;
  readonly #keyWriter = new NetlinkWriter();
  #keyOf: VirtualServerKey | undefined;
  #keyFamily = 0;
  #keyBytes: Buffer = Buffer.alloc(0);

  constructor(family: number) {
    this.#family = family;
  }

  get length(): number {
    return this.#writer.length;
  }

  /** Valid until the next write. */
  get bytes(): Buffer {
    return this.#writer.bytes;
  }

  clear(): void {
    this.#writer.clear();
  }

  /** Asks for an answer to the last message, also where it succeeds. */
  acknowledgeLast(): void {
    this.#writer.addFlags(this.#last, ipvs.NLM_F_ACK);
  }

  write(write: IpvsWrite, sequence: number): void {
    if ('destination' in write) this.#writeDestination(write, sequence);
    else {
      this.#begin(COMMAND[write.do], { flags: 0, sequence });
      if (write.do === 'delete-server') this.#onlyKey(write.server);
      else this.#server(write.server);
      this.#writer.endMessage(this.#last);
    }
  }

  question(
    command: number,
    asked: {
      readonly flags: number;
      readonly sequence: number;
      readonly server?: VirtualServerKey;
      readonly numbers?: readonly (readonly [attribute: number, value: number])[];
    },
  ): void {
    this.#begin(command, asked);
    if (asked.server) this.#onlyKey(asked.server);
    for (const [attribute, value] of asked.numbers ?? []) this.#writer.u32le(attribute, value);
    this.#writer.endMessage(this.#last);
  }

  #writeDestination(write: DestinationWrite, sequence: number): void {
    const { server, destination } = write;
    const template = this.#templates.get(write.do);
    if (template !== undefined) {
      this.#encodeKey(server);
      template.change({ sequence, server, key: this.#keyBytes, destination });
      this.#last = this.#writer.length;
      this.#writer.raw(template.bytes);
      return;
    }
    const isWhole = write.do !== 'delete-destination';
    this.#begin(COMMAND[write.do], { flags: 0, sequence });
    this.#onlyKey(server);
    this.#destination(destination, isWhole);
    this.#writer.endMessage(this.#last);
    const message = this.#writer.bytes.subarray(this.#last);
    if (isWhole) this.#templates.set(write.do, new DestinationTemplate(message));
  }

  #begin(command: number, header: { readonly flags: number; readonly sequence: number }): void {
    const flags = ipvs.NLM_F_REQUEST | header.flags;
    const { sequence } = header;
    this.#last = this.#writer.beginMessage({ type: this.#family, flags, sequence });
    this.#header[0] = command;
    this.#writer.raw(this.#header);
  }

  #server(server: VirtualServer): void {
    const { scheduler, persistenceSeconds } = server;
    const nest = this.#writer.beginNested(ipvs.ATTR_SERVICE);
    const family = this.#key(server);
    this.#writer.text(ipvs.SVC_SCHED_NAME, scheduler);
    // Flags, then a mask of all bits: what another process has set is cleared.
    this.#flags.writeUInt32LE(flagBits(server), 0);
    this.#writer.bytesOf(ipvs.SVC_FLAGS, this.#flags);
    this.#writer.u32le(ipvs.SVC_TIMEOUT, persistenceSeconds);
    this.#writer.u32le(
      ipvs.SVC_NETMASK,
      family === ipvs.AF_INET ? WHOLE_ADDRESS[ipvs.AF_INET] : WHOLE_ADDRESS[ipvs.AF_INET6],
    );
    this.#writer.endNested(nest);
  }

  #onlyKey(server: VirtualServerKey): void {
    const nest = this.#writer.beginNested(ipvs.ATTR_SERVICE);
    this.#key(server);
    this.#writer.endNested(nest);
  }

  /** Gives its family. */
  #key(server: VirtualServerKey): number {
    this.#encodeKey(server);
    this.#writer.raw(this.#keyBytes);
    return this.#keyFamily;
  }

  /** Destinations come server by server: the same key is encoded once. */
  #encodeKey(server: VirtualServerKey): void {
    if (this.#keyOf === server) return;
    const writer = this.#keyWriter;
    writer.clear();
    const family = fillAddress(this.#address, server.address);
    this.#u16le(ipvs.SVC_AF, family, writer);
    this.#u16le(ipvs.SVC_PROTOCOL, ipvs.PROTOCOL_NUMBERS[server.protocol], writer);
    writer.bytesOf(ipvs.SVC_ADDR, this.#address);
    writer.u16be(ipvs.SVC_PORT, server.port);
    this.#keyBytes = writer.bytes;
    this.#keyFamily = family;
    this.#keyOf = server;
  }

  #destination(destination: Destination, isWhole: boolean): void {
    const nest = this.#writer.beginNested(ipvs.ATTR_DEST);
    const family = fillAddress(this.#address, destination.address);
    this.#writer.bytesOf(ipvs.DEST_ADDR, this.#address);
    this.#writer.u16be(ipvs.DEST_PORT, destination.port);
    this.#u16le(ipvs.DEST_ADDR_FAMILY, family, this.#writer);
    if (isWhole) {
      this.#writer.u32le(ipvs.DEST_FWD_METHOD, ipvs.FORWARD_MASQUERADE);
      this.#writer.u32le(ipvs.DEST_WEIGHT, destination.weight);
      this.#writer.u32le(ipvs.DEST_U_THRESH, 0);
      this.#writer.u32le(ipvs.DEST_L_THRESH, 0);
    }
    this.#writer.endNested(nest);
  }

  #u16le(type: number, value: number, writer: NetlinkWriter): void {
    this.#u16[0] = value & 0xff;
    this.#u16[1] = value >>> 8;
    writer.bytesOf(type, this.#u16);
  }
}

/**
 * Where things are in a message about a destination that was written whole: every attribute has a
 * fixed size, and they come in the order in which the encoder writes them.
 */
const SEQUENCE_AT = 8;
const KEY_AT = 24;
const ADDRESS_AT = 76;
const ADDRESS_END = 92;
const PORT_AT = 96;
const FAMILY_AT = 104;
const WEIGHT_AT = 120;

/**
 * A message about a destination, changed in place for the next one. A cluster has tens of thousands,
 * and to write each attribute anew costs more than the kernel takes for it.
 */
class DestinationTemplate {
  readonly bytes: Buffer;
  readonly #address: Uint8Array;
  /** Whose key the message has. */
  #keyOf: VirtualServerKey | undefined;

  constructor(message: Buffer) {
    this.bytes = Buffer.from(message);
    this.#address = this.bytes.subarray(ADDRESS_AT, ADDRESS_END);
  }

  change(parts: {
    readonly sequence: number;
    readonly server: VirtualServerKey;
    /** Of that server, encoded. */
    readonly key: Buffer;
    readonly destination: Destination;
  }): void {
    const { bytes } = this;
    const { server, destination } = parts;
    if (this.#keyOf !== server) {
      bytes.set(parts.key, KEY_AT);
      this.#keyOf = server;
    }
    bytes.writeUInt32LE(parts.sequence, SEQUENCE_AT);
    bytes.writeUInt16LE(fillAddress(this.#address, destination.address), FAMILY_AT);
    bytes.writeUInt16BE(destination.port, PORT_AT);
    bytes.writeUInt32LE(destination.weight, WEIGHT_AT);
  }
}
