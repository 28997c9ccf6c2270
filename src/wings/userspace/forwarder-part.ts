import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { RUN_FOLDER } from '../../config/run-folder.ts';
import { NftablesPlane } from '../../dataplanes/nftables/nftables-plane.ts';
import { openNetfilter } from '../../modes/netfilter.ts';
import type { Part, Surroundings } from '../../modes/part.ts';
import { RETURN_MARKS } from './plane/forwarder/return-path.ts';
import { ForwarderPlane } from './plane/forwarder-plane.ts';
import {
  deleteListenerRoutes,
  deleteReturnRoutes,
  keepListenerRoutes,
  routeHoldings,
} from './plane/forwarder-routes.ts';
import { readProgram } from './plane/start.ts';

/** Beside the program as it is shipped; or from source. */
const PROGRAMS = ['./forwarder.mjs', './forwarder.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
/** More threads than CPUs that a node has to spare help nobody. */
const MOST_THREADS = 8;
/** Another mode forwards new connections; those that are open go on so long. */
const DRAIN_MS = 600_000;
const CLEANUP_DRAIN_MS = 5_000;

export interface ForwarderSurroundings extends Surroundings {
  /** In place of the shipped program. */
  readonly forwarderProgram?: string;
  /** In place of 30 s, after which a forwarder that does not answer is killed. */
  readonly forwarderHungMs?: number;
}

export const FORWARDER_PART: Part = {
  name: 'forwarder',
  open: (around) => openForwarder(around, openHandingOver(around)),
};

/** The nftables plane that hands connections over. */
export function openHandingOver({ openNetlink = openNetfilter }: Surroundings): NftablesPlane {
  return new NftablesPlane({ openNetlink, forwarder: true });
}

/** In front of the plane that hands connections over to it. */
export function openForwarder(
  around: ForwarderSurroundings,
  behind: NftablesPlane,
): ForwarderPlane {
  const { runFolder = RUN_FOLDER, userspace, isCleanup, forwarderProgram } = around;
  const { forwarderHungMs: hungMs } = around;
  return new ForwarderPlane({
    runFolder,
    readProgram: () => readProgram(forwarderProgram ? [forwarderProgram] : PROGRAMS),
    threadCount: userspace?.threads ?? Math.min(availableParallelism(), MOST_THREADS),
    ...(hungMs === undefined ? {} : { hungMs }),
    prepare: async () => void (await keepListenerRoutes()),
    onWarning: around.onWarning,
    writeHandOver: (ports) => behind.setForwarder(ports),
    writeKept: (rows) => behind.keepFromForwarder(rows),
    readTranslated: () => behind.notHandedOverCount(),
    drain: isCleanup
      ? { deadlineMs: CLEANUP_DRAIN_MS, isAwaited: true }
      : { deadlineMs: DRAIN_MS, isAwaited: false },
    routeHoldings,
    removeRoutes: async () => {
      await deleteListenerRoutes();
      for (const mark of RETURN_MARKS) await deleteReturnRoutes(mark);
    },
  });
}
