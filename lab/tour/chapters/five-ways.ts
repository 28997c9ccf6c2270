import type { Chapter, Stage } from '../chapter.ts';
import { type Measured, measureWay, prepareWays } from '../ways.ts';

interface Way {
  readonly proxy: string;
  readonly can: string;
  readonly cannot: string;
}

const NFTABLES: Way = {
  proxy: 'fairlead-nftables',
  can: 'all of kube-proxy, in one lookup',
  cannot: 'retry on another endpoint',
};
const IPTABLES: Way = {
  proxy: 'fairlead-iptables',
  can: "kube-proxy's own rules",
  cannot: 'stay cheap with many Services',
};
const USERSPACE: Way = {
  proxy: 'fairlead-userspace',
  can: 'retry, prefer idle endpoints',
  cannot: 'forward without copying bytes',
};
const TC_EBPF: Way = {
  proxy: 'fairlead-tc-ebpf',
  can: 'translate ahead of netfilter',
  cannot: 'run in a kernel without BTF',
};
const SOCKET_EBPF: Way = {
  proxy: 'fairlead-socket-ebpf',
  can: 'translate once, in connect()',
  cannot: 'serve clients of other machines',
};
const IPVS: Way = {
  proxy: 'fairlead-ipvs',
  can: 'choose by 14 schedulers, drain',
  cannot: 'run in a kernel without IPVS',
};

export const FIVE_WAYS: Chapter = {
  name: 'five-ways',
  title: 'The ways compared',
  learn:
    'What each way costs on this machine, measured one after the other, and what it can and cannot.',
  repeats: ['cracking 9', 'cracking 2.4'],
  kernelParts: ['btf'],
  play: (stage) => compare(stage, [NFTABLES, IPTABLES, USERSPACE, TC_EBPF, SOCKET_EBPF]),
};

export const FIVE_WAYS_IPVS: Chapter = {
  name: 'five-ways-ipvs',
  title: 'The ways compared, in a kernel with IPVS',
  learn: 'The same table where IPVS is; figures of different kernels do not compare.',
  repeats: ['cracking 9'],
  kernelParts: ['ipvs'],
  play: (stage) => compare(stage, [IPVS, NFTABLES, IPTABLES, USERSPACE]),
};

async function compare(stage: Stage, ways: readonly Way[]): Promise<void> {
  stage.say(`Every way serves the same Service on \`machine\`, one after the other. Before each figure
    the pod is asked directly for the same time; what counts is the ratio to that, since the speed of a
    machine changes from minute to minute. 1.00 is as good as no Service at all.`);
  const place = await prepareWays(stage.lab);
  const rows: string[][] = [];
  for (const way of ways) {
    const measured = await measureWay(place, way.proxy);
    rows.push([way.proxy.replace('fairlead-', ''), ...figures(measured)]);
    stage.check(`${way.proxy}: no connection failed`, measured.failed === 0);
  }
  stage.table([
    ['WAY', 'CONNECTIONS', 'REQUESTS', 'CPU A CONNECTION', 'FIRST', 'A CHANGE'],
    ...rows,
  ]);
  stage.say(`\`connections\`: connect, 64 bytes there and back, close; \`requests\`: 64 bytes on an open
    connection; both a second, as a share of those to the pod itself. \`CPU\`: time of the client's
    process and of a forwarder, if there is one, against that of a direct connection. \`first\`: one
    connection on a quiet machine, median of 9. \`a change\`: from the write of an EndpointSlice until a
    new connection gets the new endpoint, median of 5; the API server's part is in it.`);
  stage.table([['WAY', 'CAN', 'CANNOT'], ...ways.map(canAndCannot)]);
  stage.say(`With one Service the ways differ little. What many Services cost is in
    [benchmarks.md](../benchmarks.md).`);
}

function figures(measured: Measured): string[] {
  return [
    measured.connections.toFixed(2),
    measured.requests.toFixed(2),
    `${measured.cpu.toFixed(2)} x`,
    `${measured.firstMs.toFixed(2)} ms`,
    `${measured.changeMs.toFixed(0)} ms`,
  ];
}

function canAndCannot({ proxy, can, cannot }: Way): string[] {
  return [proxy.replace('fairlead-', ''), can, cannot];
}
