import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { addressText } from './address-bytes.ts';
import { mayBeAskedFor } from './conntrack.ts';
import { writeRemoval } from './encode-removal.ts';
import { decodeFlow, type Flow, type FlowTuple } from './flow.ts';
import { type FlowFilter, passesFilter, writeQuestion } from './question.ts';

/**
 * Captured from Linux 6.18 with real traffic: bodies of messages of type 0x100. In a network
 * namespace of its own, loopback had 10.244.0.7 and fd00:244::7, nftables translated
 * 10.96.0.10:53/udp, [fd00:96::10]:53/udp and 10.96.0.11:80/tcp to ports 5353 and 8080 there,
 * servers answered, and a dump through threadedDump() was printed unchanged. `conntrack -L -o id`
 * at the same time printed what the tests expect. The last flow was sent to 10.96.0.99:9, where no
 * host is.
 */
const UDP_TRANSLATED =
  '020000003400018014000180080001000af40007080002000a60000a1c00028005000100110000000600020' +
  '09c41000006000300003500003400028014000180080001000af40007080002000af400071c000280050001' +
  '00110000000600020014e90000060003009c41000008000300000001aa080008000000001f08000c00dc011' +
  'b6e08000b0000000001080007000000001d';
const UDP6_TRANSLATED =
  '0a0000004c0001802c00018014000300fd00024400000000000000000000000714000400fd0000960000000' +
  '000000000000000101c0002800500010011000000060002009c42000006000300003500004c0002802c0001' +
  '8014000300fd00024400000000000000000000000714000400fd0002440000000000000000000000071c000' +
  '28005000100110000000600020014e90000060003009c42000008000300000001aa08000800000000000800' +
  '0c005d3b8a1408000b0000000001080007000000001d';
const TCP_ESTABLISHED =
  '020000003400018014000180080001000af40007080002000a60000b1c00028005000100060000000600020' +
  '09c43000006000300005000003400028014000180080001000af40007080002000af400071c000280050001' +
  '0006000000060002001f900000060003009c43000008000300000001ae080008000000000008000c002f4c4' +
  '5f908000b0000000001080007000006977f300004802c0001800500010003000000050002000a0000000500' +
  '03000a00000006000400230000000600050023000000';
const UDP_UNTOUCHED =
  '020000003400018014000180080001000af40007080002000a6000631c00028005000100110000000600020' +
  '09c45000006000300000900003400028014000180080001000a600063080002000af400071c000280050001' +
  '00110000000600020000090000060003009c4500000800030000000188080008000000000008000c000bc27' +
  '59108000b0000000001080007000000001d';

function decoded(hex: string): Flow {
  const flow = decodeFlow(Buffer.from(hex, 'hex'));
  assert.ok(flow);
  return flow;
}

function tupleText({ source, sourcePort, destination, destinationPort }: FlowTuple): string {
  return `${addressText(source)} ${sourcePort} > ${addressText(destination)} ${destinationPort}`;
}

function flowText(flow: Flow): string {
  return `${tupleText(flow.original)}, ${tupleText(flow.reply)}`;
}

describe('a conntrack message', () => {
  it('has the start time, where the kernel keeps it', () => {
    assert.equal(decoded(UDP_TRANSLATED).startedAtMs, undefined);
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(1_700_000_000_123_456_789n);
    // CTA_TIMESTAMP, and in it CTA_TIMESTAMP_START.
    const attribute = `100014800c000100${time.toString('hex')}`;
    assert.equal(decoded(UDP_TRANSLATED + attribute).startedAtMs, 1_700_000_000_123);
  });

  it('is decoded: UDP, translated, with a mark', () => {
    const flow = decoded(UDP_TRANSLATED);
    assert.equal(
      flowText(flow),
      '10.244.0.7 40001 > 10.96.0.10 53, 10.244.0.7 5353 > 10.244.0.7 40001',
    );
    const { version, protocol, status, id, zone, mark, timeoutSeconds, tcpState } = flow;
    assert.deepEqual(
      { version, protocol, status, id, zone, mark, timeoutSeconds, tcpState },
      {
        ...{ version: 4, protocol: 17, status: 0x1aa, id: 3691060078, zone: 0, mark: 31 },
        ...{ timeoutSeconds: 29, tcpState: undefined },
      },
    );
  });

  it('is decoded: IPv6', () => {
    const flow = decoded(UDP6_TRANSLATED);
    assert.equal(
      flowText(flow),
      'fd00:244::7 40002 > fd00:96::10 53, fd00:244::7 5353 > fd00:244::7 40002',
    );
    assert.equal(flow.version, 6);
    assert.equal(flow.id, 1564183060);
  });

  it('is decoded: TCP, with its state', () => {
    const flow = decoded(TCP_ESTABLISHED);
    assert.equal(
      flowText(flow),
      '10.244.0.7 40003 > 10.96.0.11 80, 10.244.0.7 8080 > 10.244.0.7 40003',
    );
    assert.deepEqual([flow.protocol, flow.tcpState, flow.timeoutSeconds], [6, 3, 431999]);
  });

  it('is decoded: not translated', () => {
    const flow = decoded(UDP_UNTOUCHED);
    assert.equal(
      flowText(flow),
      '10.244.0.7 40005 > 10.96.0.99 9, 10.96.0.99 9 > 10.244.0.7 40005',
    );
    assert.equal(flow.status, 0x188);
  });

  it('is rejected when it is truncated', () => {
    const bytes = Buffer.from(UDP_TRANSLATED, 'hex');
    assert.throws(() => decodeFlow(bytes.subarray(0, 30)), RangeError);
  });
});

// That the kernel understands it so is tested in conntrack.root.test.ts.
describe('a conntrack request', () => {
  const filter: FlowFilter = {
    version: 4,
    protocol: 17,
    destination: '\x0a\x60\x00\x0a',
    destinationPort: 53,
  };

  it('is a filtered dump', () => {
    const writer = new NetlinkWriter();
    writeQuestion(writer, filter, 7);
    assert.equal(
      writer.bytes.toString('hex'),
      // Header; AF_INET; destination; protocol and port; the flags 2 + 8 + 32.
      '44000000010101030700000000000000' +
        '02000000' +
        '240001800c000180080002000a60000a' +
        '1400028005000100110000000600030000350000' +
        '0c001980080001002a000000',
    );
  });

  it('is a full dump without a filter', () => {
    const writer = new NetlinkWriter();
    writeQuestion(writer, undefined, 7);
    assert.equal(writer.bytes.toString('hex'), '1400000001010103070000000000000000000000');
  });

  it('omits an IPv6 address', () => {
    const writer = new NetlinkWriter();
    const destination = 'x'.repeat(16);
    writeQuestion(writer, { ...filter, version: 6, destination }, 7);
    assert.ok(!writer.bytes.includes(destination));
    assert.ok(writer.bytes.toString('hex').endsWith('28000000'), 'the flags 8 + 32');
  });

  it('has the same filter in user space', () => {
    assert.ok(passesFilter(filter, decoded(UDP_TRANSLATED)));
    assert.ok(!passesFilter(filter, decoded(UDP_UNTOUCHED)));
    assert.ok(!passesFilter({ ...filter, destinationPort: 54 }, decoded(UDP_TRANSLATED)));
    assert.ok(!passesFilter({ ...filter, protocol: 132 }, decoded(UDP_TRANSLATED)));
    assert.ok(!passesFilter(filter, decoded(UDP6_TRANSLATED)));
  });

  it('excludes most other flows without decoding them', () => {
    const isSeen = (hex: string, protocol: number, port: number): boolean =>
      mayBeAskedFor(Buffer.from(hex, 'hex'), {
        protocols: new Set([protocol]),
        destinationPorts: new Set([port]),
      });
    for (const hex of [UDP_TRANSLATED, UDP6_TRANSLATED]) {
      assert.ok(isSeen(hex, 17, 53));
      assert.ok(!isSeen(hex, 17, 54));
      assert.ok(!isSeen(hex, 6, 53));
    }
    assert.ok(isSeen(TCP_ESTABLISHED, 6, 80));
    assert.ok(isSeen(UDP_TRANSLATED.slice(0, 80), 6, 80), 'what is not known may be anything');
  });

  it('excludes answered connections without decoding them', () => {
    const unanswered = TCP_ESTABLISHED.replace('08000300000001ae', '0800030000000188');
    assert.notEqual(unanswered, TCP_ESTABLISHED);
    const isSeen = (hex: string, protocol: number, port: number): boolean =>
      mayBeAskedFor(Buffer.from(hex, 'hex'), {
        protocols: new Set([protocol]),
        destinationPorts: new Set([port]),
        unansweredTcpOnly: true,
      });
    assert.ok(isSeen(unanswered, 6, 80));
    assert.ok(!isSeen(TCP_ESTABLISHED, 6, 80));
    assert.ok(!isSeen(unanswered, 6, 81));
    assert.ok(isSeen(UDP_TRANSLATED, 17, 53), 'of others all');
    assert.ok(isSeen(TCP_ESTABLISHED.slice(0, 216), 6, 80), 'what is not known may be anything');
  });

  it('deletes a flow by its reply tuple and its id', () => {
    const writer = new NetlinkWriter();
    writeRemoval(writer, decoded(UDP_TRANSLATED), 9);
    const body = writer.bytes.toString('hex').slice(32);
    // The tuple and the id are, byte for byte, those that the kernel reported.
    assert.equal(body, `02000000${UDP_TRANSLATED.slice(112, 216)}08000c00dc011b6e`);
    assert.equal(writer.bytes.readUInt16LE(4), 0x102);
  });

  it('names the zone of a flow that is not in the default one', () => {
    const writer = new NetlinkWriter();
    writeRemoval(writer, { ...decoded(UDP_TRANSLATED), zone: 5 }, 9);
    assert.ok(writer.bytes.toString('hex').endsWith('0600120000050000'));
  });
});
