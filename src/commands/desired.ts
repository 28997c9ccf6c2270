import { hostname } from 'node:os';
import type { HeldPort } from '../agent/host-sockets.ts';
import { Intake } from '../agent/intake.ts';
import type { MachineAddresses } from '../agent/machine-addresses.ts';
import { hasHooks } from '../agent/node-facts.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Desired } from '../dataplanes/contract.ts';
import { patiently } from './services/patience.ts';
import { openSource, type SourceOptions, warnOfGaps } from './source.ts';

/** What a node should do at one moment, and the table that it follows from. */
export interface ObservedDesired extends Desired {
  readonly rows: Desired['rows'];
  readonly intake: Intake;
}

export function nodeNameOf({ settings }: LoadedConfig): string {
  return settings.nodeName ?? hostname().toLowerCase();
}

/** The machine that it is about, or a node that is only imagined. */
export interface ObservedMachine {
  readonly addresses: MachineAddresses;
  /** Undefined: nobody knows which ports its processes hold. */
  readonly listSockets?: () => Promise<readonly HeldPort[]>;
}

/**
 * Asks the cluster, or reads manifests, once and completely: what `fairlead run` with the same
 * configuration would want the kernel to have.
 */
export async function readDesired(
  config: LoadedConfig,
  from: SourceOptions,
  { addresses, listSockets }: ObservedMachine,
): Promise<ObservedDesired> {
  const { settings } = config;
  const nodeName = nodeNameOf(config);
  const watched = settings.nodeObject === 'none' ? undefined : nodeName;
  const source = await openSource({ ...from, watchesNamespaces: hasHooks(settings) }, watched);
  const intake = new Intake({
    settings,
    nodeName,
    expectsHostSockets: listSockets !== undefined,
  });
  if (listSockets) intake.takeHostSockets(await listSockets());
  const complete = Promise.withResolvers<void>();
  const check = (): void => {
    if (intake.missing().length === 0) complete.resolve();
  };
  const lifetime = new AbortController();
  const following = Promise.all([
    source.run((event) => {
      intake.take(event);
      check();
    }, lifetime.signal),
    addresses.run((all) => {
      intake.takeMachineAddresses(all);
      check();
    }, lifetime.signal),
  ]);
  try {
    await patiently(Promise.race([complete.promise, following.then(() => undefined)]), source);
  } finally {
    lifetime.abort();
    await following;
  }
  warnOfGaps(source.server?.());
  const { table } = intake;
  const rows = table.serviceNames().flatMap((name) => table.ofService(name));
  return { facts: intake.facts, rows, intake };
}
