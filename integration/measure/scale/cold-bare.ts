import { readFile } from 'node:fs/promises';
import { openNetlink } from '../../../src/linux/netlink/netlink-socket.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { NETLINK_NETFILTER } from '../../../src/linux/nftables/nftables-protocol.ts';

/** Run in a process of its own: sends the bytes that another has recorded, and does nothing else. */
const [file = ''] = process.argv.slice(2);
const messages = split(await readFile(file));
enterOwnNetwork();
using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
const before = process.cpuUsage();
const startedAtMs = performance.now();
for (const bytes of messages) {
  await netlink.send(bytes);
  for (let batch = netlink.receive(); batch !== undefined; batch = netlink.receive()) {
    for (const _ of batch);
  }
}
const milliseconds = performance.now() - startedAtMs;
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ milliseconds, cpuMilliseconds: (user + system) / 1_000 }));

function split(recorded: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < recorded.length; ) {
    const length = recorded.readUInt32LE(at);
    found.push(recorded.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return found;
}
