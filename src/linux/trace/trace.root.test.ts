import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '../../time/testing/until.ts';
import { PROTOCOL_TCP, PROTOCOL_UDP } from '../conntrack/conntrack-protocol.ts';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { type BoundPort, holdPort, type ProbeTarget } from '../probe/held-port.ts';
import { probeAnswer } from '../probe/probe-answer.ts';
import { sendDatagram, sendSyn, startConnection } from '../probe/send-probe.ts';
import { SERVED_PORT, startHost } from '../testing/hosts/host.ts';
import { joinPod, type PlacedHost } from '../testing/hosts/placed-host.ts';
import { startProgram } from '../testing/started-program.ts';
import type { TraceEvent } from './decode-trace.ts';
import { LAST_CHAINS, PROBE_TABLE_NAME } from './probe-table.ts';
import { openTrace } from './trace.ts';

const WAIT_MS = 10_000;
const CLOSED_PORT = 9;
/** Longer than opening a trace takes. */
const WAITED_MS = 200;
const KILLS = 10;
const LONGEST_LIFE_MS = 30;
const PROGRAM = fileURLToPath(new URL('./testing/trace-forever.ts', import.meta.url));
let client: PlacedHost;
let server: PlacedHost;

before(async () => {
  enterOwnNetwork();
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
  client = joinPod(await startHost('client'), 1);
  server = joinPod(await startHost('server'), 2);
});

const SEND = { syn: sendSyn, datagram: sendDatagram, connection: startConnection } as const;

/** Sends one probe under a trace; gives what its client sees and what it met. */
async function probe(
  target: ProbeTarget,
  options: {
    readonly from?: PlacedHost;
    readonly kind: keyof typeof SEND;
    readonly stopsAtEnd?: boolean;
    readonly timeoutMs?: number;
    readonly beside?: () => Promise<unknown>;
  },
) {
  const { from, kind, stopsAtEnd = false, timeoutMs = WAIT_MS } = options;
  const ended = new AbortController();
  const namespacePath = from && `/proc/${from.pid}/ns/net`;
  using port = holdPort(target, { namespacePath });
  const trace = await openTrace(flowOf(port), { signal: ended.signal, stopsAtEnd });
  try {
    await options.beside?.();
    using sent = SEND[kind](port);
    const answer = await probeAnswer(sent, port, { timeoutMs });
    await trace.until(hasEnd, { timeoutMs: WAIT_MS, signal: ended.signal });
    return { answer, events: trace.events, otherCount: trace.otherCount, port, trace };
  } finally {
    ended.abort();
  }
}

function flowOf({ source, sourcePort, target }: BoundPort) {
  return {
    family: target.address.includes(':') ? ('ip6' as const) : ('ip' as const),
    protocol: target.protocol === 'TCP' ? PROTOCOL_TCP : PROTOCOL_UDP,
    source,
    sourcePort,
  };
}

/** The packet has met all rules, or one dropped it. */
function hasEnd(events: readonly TraceEvent[]): boolean {
  return events.some(
    ({ table, chain, verdict }) =>
      verdict === 'drop' || (table === PROBE_TABLE_NAME && chain in LAST_CHAINS),
  );
}

function tables(): string {
  return run(['nft', 'list', 'tables']);
}

for (const family of ['ipv4', 'ipv6'] as const) {
  const tcp = (port = SERVED_PORT): ProbeTarget => ({
    address: server[family],
    port,
    protocol: 'TCP',
  });
  const udp = (port = SERVED_PORT): ProbeTarget => ({ ...tcp(port), protocol: 'UDP' });

  describe(`a traced probe, ${family}`, () => {
    it('sends one SYN, which the kernel of the server answers', async () => {
      const { answer, events, port } = await probe(tcp(), { from: client, kind: 'syn' });
      assert.equal(answer.is, 'accepted');
      const first = events.find(({ packet }) => packet !== undefined)?.packet;
      assert.deepEqual(first, {
        source: client[family],
        sourcePort: port.sourcePort,
        destination: server[family],
        destinationPort: SERVED_PORT,
        protocol: PROTOCOL_TCP,
        tcpFlags: ['SYN'],
      });
      const answers = events.flatMap(({ packet }) => packet?.tcpFlags?.join() ?? []);
      assert.ok(answers.includes('SYN,ACK'), answers.join(' '));
    });

    it('sees a reset where no program listens', async () => {
      const { answer } = await probe(tcp(CLOSED_PORT), { from: client, kind: 'syn' });
      assert.equal(answer.is, 'refused');
    });

    it('makes a whole connection, and is refused one', async () => {
      const { answer } = await probe(tcp(), { from: client, kind: 'connection' });
      assert.equal(answer.is, 'accepted');
      const refused = await probe(tcp(CLOSED_PORT), { from: client, kind: 'connection' });
      assert.equal(refused.answer.is, 'refused');
    });

    it('sends an empty datagram, and hears that a port is closed', async () => {
      const { answer } = await probe(udp(), { from: client, kind: 'datagram' });
      assert.equal(answer.is, 'answered');
      const refused = await probe(udp(CLOSED_PORT), { from: client, kind: 'datagram' });
      assert.equal(refused.answer.is, 'refused');
    });

    it('stops a packet after all rules, and leaves no conntrack entry', async () => {
      const of = { from: client, kind: 'datagram', stopsAtEnd: true, timeoutMs: 200 } as const;
      const { answer, events, port } = await probe(udp(), of);
      assert.equal(answer.is, 'silent');
      assert.equal(events.at(-1)?.chain, LAST_CHAINS.leaves);
      const entries = run(['cat', '/proc/thread-self/net/nf_conntrack']);
      assert.ok(!entries.includes(`sport=${port.sourcePort} `), entries);
    });

    it('traces a probe of this machine itself', async () => {
      const { answer, events } = await probe(tcp(), { kind: 'syn' });
      assert.equal(answer.is, 'accepted');
      assert.ok(events.some(({ chain }) => chain === 'begins'));
    });

    it('names a rule of another table that drops the packet', async () => {
      const nft = (script: string) => run(['nft', '-f', '-'], script);
      const match = family === 'ipv4' ? 'ip' : 'ip6';
      nft(
        `table inet planted { chain guard { type filter hook forward priority 5; ${match} saddr ${client[family]} drop; }; }`,
      );
      const handle = /drop.*# handle (\d+)/.exec(run(['nft', '-a', 'list', 'ruleset']))?.[1];
      try {
        const { answer, events } = await probe(tcp(), {
          from: client,
          kind: 'syn',
          timeoutMs: 200,
        });
        assert.equal(answer.is, 'silent');
        const dropped = events.find(({ verdict }) => verdict === 'drop');
        assert.partialDeepStrictEqual(dropped, {
          kind: 'rule',
          family: 'inet',
          table: 'planted',
          chain: 'guard',
          handle: BigInt(handle ?? 0),
        });
      } finally {
        nft('delete table inet planted');
      }
    });

    it('traces no connection of others, and leaves no table', async () => {
      const peer = { transport: 'TCP', address: server[family], port: SERVED_PORT } as const;
      const beside = () => client.ask({ ...peer, count: 20 });
      const before = tables();
      const { trace } = await probe(tcp(), { from: client, kind: 'syn', beside });
      assert.ok(trace.isComplete);
      assert.equal(trace.otherCount, 0);
      assert.equal(tables(), before);
    });
  });
}

describe('a second probe at the same moment', () => {
  const flow = { family: 'ip', protocol: PROTOCOL_TCP, sourcePort: 1 } as const;

  it('waits until the first has ended', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    await openTrace(flow, { signal: first.signal, stopsAtEnd: false });
    const waiting = openTrace(flow, { signal: second.signal, stopsAtEnd: false });
    let isOpen = false;
    void waiting.then(() => {
      isOpen = true;
    });
    await sleep(WAITED_MS);
    assert.equal(isOpen, false);
    first.abort();
    await waiting;
    assert.ok(tables().includes(PROBE_TABLE_NAME));
    second.abort();
    await until('there is no table', () => tables() === '');
  });

  it('says that another one runs, if that does not end', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    await openTrace(flow, { signal: first.signal, stopsAtEnd: false });
    const waiting = openTrace(flow, { signal: second.signal, stopsAtEnd: false });
    await assert.rejects(waiting, { code: 'PROBE_BUSY' });
    first.abort();
    await until('there is no table', () => tables() === '');
  });
});

describe('a probe that is killed', () => {
  it('leaves no table, whenever it is killed', async () => {
    for (let attempt = 0; attempt < KILLS; attempt++) {
      const program = await startProgram(PROGRAM, []);
      // A random moment of its work; the first time one at which there is a table.
      if (attempt > 0) await sleep(Math.random() * LONGEST_LIFE_MS);
      else await until('there is a table', () => tables().includes(PROBE_TABLE_NAME));
      program.kill();
      await program.ended;
      assert.equal(tables(), '');
    }
  });
});
