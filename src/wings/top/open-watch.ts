import { networkInterfaces } from 'node:os';
import type { AgentNode } from '../../agent/servers/agent-node.ts';
import { CommandError } from '../../commands/command-error.ts';
import { ownNetworkNamespace } from '../../commands/run/describe-agent-node.ts';
import { addressBytes } from '../../linux/conntrack/address-bytes.ts';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { listenToNewFlows } from '../../linux/top/new-flows.ts';
import type { Mode } from '../../modes/mode.ts';
import { systemClock } from '../../time/clock.ts';
import { classByAddress } from './client-class.ts';
import { TrafficWatch, type WatchOptions } from './traffic-watch.ts';

/** New flows that are read in a second: a few percent of one CPU. */
const EVENTS_PER_SECOND = 3_000;

/** A watch of this machine's conntrack and of its agent. */
export function watchOf(
  { mode, facts }: AgentNode,
  watched: Pick<WatchOptions, 'agent' | 'alsoRead' | 'signal'> & {
    readonly intervalMs: number;
    /** Of the agent; undefined: this build lacks it. */
    readonly known: Mode | undefined;
  },
): TrafficWatch {
  const { intervalMs, known, ...options } = watched;
  const { copied, unseenSources = [], makesSilentEntries } = known ?? {};
  const handedOverTo = (copied?.addresses ?? []).map(addressBytes);
  return new TrafficWatch({
    ...options,
    conntrack: new KernelConntrack(),
    listen: listenToNewFlows,
    mode,
    unseenSources,
    hearsClients: makesSilentEntries !== true,
    handedOverTo: new Set(handedOverTo.filter((bytes) => bytes !== undefined)),
    classOf: classByAddress(facts, ownAddresses()),
    monotonicMs: () => systemClock.monotonicMs(),
    mostEvents: Math.ceil((EVENTS_PER_SECOND * intervalMs) / 1000),
  });
}

/** Conntrack is that of the network namespace of this process. */
export function assertSameConntrack({ pid, networkNamespace }: AgentNode, command: string): void {
  if (networkNamespace === ownNetworkNamespace()) return;
  throw new CommandError(
    `the agent (pid ${pid}) is in another network namespace, whose conntrack cannot be read from here`,
    {
      code: 'OTHER_NETWORK',
      next: `run it there: nsenter -t ${pid} -n fairlead ${command}`,
    },
  );
}

function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(all.map(({ address }) => address));
}
