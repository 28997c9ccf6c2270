import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { dump, request } from './netlink-exchange.ts';
import { sendNow, sendOnThread } from './netlink-libc.ts';
import {
  type Netlink,
  type NetlinkListener,
  openNetlink,
  ReceiveBuffers,
} from './netlink-socket.ts';
import { NetlinkWriter } from './netlink-writer.ts';
import { readAttributes, textOf } from './reader.ts';
import { LINKS_QUESTION } from './testing/captured-netlink.ts';
import { enterOwnNetwork, ip } from './testing/own-namespace.ts';

const NETLINK_ROUTE = 0;
const RTNLGRP_LINK = 1;
const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const REQUEST_AND_ACK = 0x5;
const DEADLINE_MS = 10_000;
const LARGE = 100_000;

before(enterOwnNetwork);

/** Hears until `isEnough`, or fails after the deadline with what it has heard. */
async function hear(
  netlink: Netlink,
  act: () => void,
  isEnough: (heard: readonly string[]) => boolean,
): Promise<string[]> {
  const heard: string[] = [];
  const stop = new AbortController();
  const late = AbortSignal.timeout(DEADLINE_MS);
  const add = (what: string): void => {
    heard.push(what);
    if (isEnough(heard)) stop.abort();
  };
  const listener: NetlinkListener = {
    onMessage: ({ type, body }) => add(`${type} ${nameOf(body)}`),
    onOverrun: () => add('overrun'),
  };
  const listening = netlink.listen(listener, AbortSignal.any([stop.signal, late]));
  act();
  await listening;
  assert.ok(!late.aborted, `gave up; heard ${heard.join(', ')}`);
  return heard;
}

function nameOf(body: Buffer): string {
  return textOf(readAttributes(body.subarray(16)).get(3));
}

/** Causes more events than a small buffer can hold. */
function makeNoise(): void {
  const toggles = Array.from({ length: 60 }, () => ['link set lo down', 'link set lo up']);
  ip(...toggles.flat());
}

/** A message that the kernel rejects, of any length. */
function unknownMessage(length: number): Buffer {
  const writer = new NetlinkWriter();
  const message = writer.beginMessage({ type: 0xfff, flags: REQUEST_AND_ACK, sequence: 9 });
  for (let left = length; left > 0; left -= 30_000) writer.raw(new Uint8Array(30_000));
  writer.endMessage(message);
  return writer.bytes;
}

describe('a netlink socket', () => {
  it('lists the links', async () => {
    ip('link add listed type veth peer name listed2');
    using netlink = openNetlink({ protocol: NETLINK_ROUTE });
    const names: string[] = [];
    const question = { bytes: LINKS_QUESTION, what: 'list links' };
    const { consistent } = await dump(netlink, question, ({ body }) => names.push(nameOf(body)));
    ip('link del listed');
    assert.equal(consistent, true);
    assert.deepEqual(names.sort(), ['listed', 'listed2', 'lo']);
  });

  it('has its own port', () => {
    using one = openNetlink({ protocol: NETLINK_ROUTE });
    using other = openNetlink({ protocol: NETLINK_ROUTE });
    assert.ok(one.portId !== 0 && other.portId !== 0);
    assert.notEqual(one.portId, other.portId);
  });

  it('rejects with the error of the kernel, and its message', async () => {
    using netlink = openNetlink({ protocol: NETLINK_ROUTE });
    const writer = new NetlinkWriter();
    const begun = writer.beginMessage({ type: RTM_NEWLINK, flags: 0x605, sequence: 3 });
    writer.raw(new Uint8Array(16));
    writer.text(3, 'a-name-that-is-longer-than-15');
    writer.endMessage(begun);
    await assert.rejects(request(netlink, { bytes: writer.bytes, what: 'make a link' }), {
      name: 'NetlinkError',
      operation: 'make a link',
      code: 'ERANGE',
      detail: 'Attribute failed policy validation',
    });
  });

  it('receives events for an added and a deleted link', async () => {
    using netlink = openNetlink({ protocol: NETLINK_ROUTE, groups: [RTNLGRP_LINK] });
    const act = () => ip('link add heard type veth peer name heard2', 'link del heard');
    const heard = await hear(netlink, act, (all) => all.includes(`${RTM_DELLINK} heard`));
    assert.ok(heard.includes(`${RTM_NEWLINK} heard`));
    assert.ok(!heard.includes('overrun'));
  });

  it('delivers nothing after its signal is aborted, not even events that have arrived', async () => {
    using netlink = openNetlink({ protocol: NETLINK_ROUTE, groups: [RTNLGRP_LINK] });
    const heard = await hear(netlink, makeNoise, (all) => all.length === 3);
    assert.equal(heard.length, 3);
  });

  it('does not start to listen when the signal is aborted already', async () => {
    using netlink = openNetlink({ protocol: NETLINK_ROUTE, groups: [RTNLGRP_LINK] });
    ip('link set lo down', 'link set lo up');
    const listener = { onMessage: () => assert.fail(), onOverrun: () => assert.fail() };
    await netlink.listen(listener, AbortSignal.abort());
  });

  it('rejects with the error that its listener throws, and can listen again', async () => {
    using netlink = openNetlink({ protocol: NETLINK_ROUTE, groups: [RTNLGRP_LINK] });
    const broken = () => {
      throw new Error('broken listener');
    };
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const listening = netlink.listen({ onMessage: broken, onOverrun: broken }, signal);
    makeNoise();
    await assert.rejects(listening, { message: 'broken listener' });
    await hear(netlink, makeNoise, (all) => all.length === 3);
  });

  it('survives a listener that aborts it and then throws', async () => {
    using netlink = openNetlink({ protocol: NETLINK_ROUTE, groups: [RTNLGRP_LINK] });
    const stop = new AbortController();
    const endAndThrow = () => {
      stop.abort();
      throw new Error('too late');
    };
    const listener = { onMessage: endAndThrow, onOverrun: endAndThrow };
    const listening = netlink.listen(listener, stop.signal);
    makeNoise();
    await listening;
  });

  it('reports lost events each time, and continues to listen', async () => {
    const groups = [RTNLGRP_LINK];
    using netlink = openNetlink({ protocol: NETLINK_ROUTE, groups, receiveBufferBytes: 4096 });
    let overruns = 0;
    // All in one listening: whatever stops it must not hide behind a new start.
    const heard = await hear(netlink, makeNoise, (all) => {
      if (all.at(-1) !== 'overrun') return all.at(-1) === `${RTM_DELLINK} after`;
      overruns++;
      if (overruns < 4) makeNoise();
      else ip('link add after type veth peer name other', 'link del after');
      return false;
    });
    assert.ok(overruns >= 4);
    assert.equal(heard.at(-1), `${RTM_DELLINK} after`);
  });

  it('reports lost events when there is room again, so that later events are complete', async () => {
    const groups = [RTNLGRP_LINK];
    using netlink = openNetlink({ protocol: NETLINK_ROUTE, groups, receiveBufferBytes: 4096 });
    const heard = await hear(netlink, makeNoise, (all) => all.includes('overrun'));
    assert.ok(heard.length > 1);
    assert.equal(heard.at(-1), 'overrun');
    assert.equal(netlink.receive(), undefined);
  });

  it('does so also when more is queued than it reads at once', async () => {
    const groups = [RTNLGRP_LINK];
    const receiveBufferBytes = 1024 * 1024;
    using netlink = openNetlink({ protocol: NETLINK_ROUTE, groups, receiveBufferBytes });
    const act = () => ip(...Array.from({ length: 3000 }, (_, i) => `link set lo mtu ${1500 + i}`));
    const heard = await hear(netlink, act, (all) => all.includes('overrun'));
    assert.ok(heard.length > 256, `only ${heard.length}`);
    assert.equal(netlink.receive(), undefined);
  });

  it('closes its descriptor, also when opening fails', () => {
    const count = () => readdirSync('/proc/self/fd').length;
    const earlier = count();
    openNetlink({ protocol: NETLINK_ROUTE })[Symbol.dispose]();
    assert.throws(() => openNetlink({ protocol: NETLINK_ROUTE, groups: [-1] }), { code: 'EINVAL' });
    assert.throws(() => openNetlink({ protocol: 99 }), { code: 'EPROTONOSUPPORT' });
    assert.equal(count(), earlier);
  });
});

describe('a large message', () => {
  it('is sent on a thread, and its response is there when the send returns', async () => {
    using netlink = openNetlink({ protocol: NETLINK_ROUTE });
    for (const length of [LARGE, 20 * LARGE]) {
      await netlink.send(unknownMessage(length));
      const [answer] = netlink.receive() ?? [];
      assert.deepEqual([answer?.type, answer?.sequence], [2, 9]);
      assert.equal(-(answer?.body.readInt32LE(0) ?? 0), 95);
    }
  });

  it('keeps the event loop free and its bytes intact while other buffers are allocated and freed', async () => {
    using netlink = openNetlink({ protocol: NETLINK_ROUTE });
    for (let round = 0; round < 50; round++) {
      const sending = netlink.send(unknownMessage(10 * LARGE));
      Buffer.alloc(10 * LARGE, 0xff);
      await sending;
      const [answer] = netlink.receive() ?? [];
      assert.equal(answer?.sequence, 9);
    }
  });

  it('that fails has the errno of its own call, whatever else fails meanwhile', async () => {
    const large = Buffer.alloc(LARGE);
    const file = openSync('/dev/null', 'w');
    try {
      const sends = Array.from({ length: 200 }, async (_, index) => {
        const failed = sendOnThread(index % 2 === 0 ? -1 : file, large);
        // Another errno on the main thread, after the other call has begun.
        assert.deepEqual(sendNow(index % 2 === 0 ? file : -1, large), {
          errno: index % 2 === 0 ? 88 : 9,
        });
        return await failed;
      });
      for (const [index, failed] of (await Promise.all(sends)).entries()) {
        assert.deepEqual(failed, { errno: index % 2 === 0 ? 9 : 88 });
      }
    } finally {
      closeSync(file);
    }
  });

  it('that the kernel rejects is an error of the operation', async () => {
    const netlink = openNetlink({ protocol: NETLINK_ROUTE });
    netlink[Symbol.dispose]();
    await assert.rejects(netlink.send(Buffer.alloc(LARGE)), { code: 'EBADF' });
  });
});

describe('a lent receive buffer', () => {
  /** Of the links: lo. */
  async function listLinks(netlink: Netlink): Promise<string[]> {
    const names: string[] = [];
    const question = { bytes: LINKS_QUESTION, what: 'list links' };
    await dump(netlink, question, ({ body }) => names.push(nameOf(body)));
    return names;
  }

  it('is lent again when its socket is closed, and once only', async () => {
    const buffers = new ReceiveBuffers();
    const first = openNetlink({ protocol: NETLINK_ROUTE, buffers });
    assert.ok((await listLinks(first)).includes('lo'));
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    const [one, other] = [buffers.borrow(), buffers.borrow()];
    assert.notEqual(one, other);
    assert.ok(one.includes('lo'), 'it has the answer of before');
    assert.throws(() => first.receive(), { code: 'EBADF' });
  });

  it('belongs to one of two open sockets', async () => {
    const buffers = new ReceiveBuffers();
    using one = openNetlink({ protocol: NETLINK_ROUTE, buffers });
    using other = openNetlink({ protocol: NETLINK_ROUTE, buffers });
    const both = await Promise.all([listLinks(one), listLinks(other)]);
    assert.deepEqual(both[0], both[1]);
  });
});
