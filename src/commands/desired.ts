import type { HeldPort } from '../agent/host-sockets.ts';
import { Intake } from '../agent/intake.ts';
import type { MachineAddresses } from '../agent/machine-addresses.ts';
import { ClusterError } from '../cluster/errors.ts';
import type { SourceEvent } from '../cluster/source.ts';
import type { Settings } from '../config/settings.ts';
import { needsOf } from '../modes/registry.ts';
import { waitForSource } from './services/wait-for-source.ts';
import { configuredSource, openSource, type SourceOptions, warnOfGaps } from './source.ts';
import { printWarning } from './terminal/print.ts';
import { visible } from './terminal/visible.ts';

/** The machine that it is about. */
export interface ObservedMachine {
  readonly addresses: MachineAddresses;
  /** Undefined: which ports its processes hold is not known. */
  readonly listSockets?: () => Promise<readonly HeldPort[]>;
}

export interface NodeToObserve {
  readonly settings: Settings;
  readonly nodeName: string;
  /** What it says wins over the settings. */
  readonly from: SourceOptions;
  /** Undefined: another one, of which only the Node object tells. */
  readonly machine: ObservedMachine | undefined;
}

/** What a node should do, kept up to date until it is stopped. */
export interface ObservedNode {
  readonly intake: Intake;
  /** Calls back after each event from now on. */
  onChange(listener: () => void): void;
  /** Settles when the source has no more to tell. */
  readonly following: Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Asks the cluster, or reads manifests, completely: what `fairlead run` with the same configuration
 * would want the kernel to have.
 */
export async function observeNode(of: NodeToObserve): Promise<ObservedNode> {
  const { settings, nodeName, from, machine } = of;
  const needs = needsOf(settings.mode);
  const broken: ClusterError[] = [];
  let isRead = false;
  const source = await openSource(
    {
      ...configuredSource(settings),
      ...from,
      onProblem: (problem) => {
        // What breaks later, while changes are followed, takes nothing away.
        if (!isRead && isBrokenManifest(problem)) broken.push(problem);
        else printWarning(problem.message);
      },
    },
    settings.nodeObject === 'none' ? undefined : nodeName,
  );
  const listSockets = machine?.listSockets;
  const intake = new Intake({
    settings,
    needs,
    nodeName,
    expectsHostSockets: listSockets !== undefined,
  });
  if (listSockets) intake.takeHostSockets(await listSockets());
  if (!machine) intake.takeMachineAddresses([]);
  const complete = Promise.withResolvers<void>();
  const lifetime = new AbortController();
  let listener: (() => void) | undefined;
  const changed = (): void => {
    if (intake.isComplete) complete.resolve();
    listener?.();
  };
  const take = (event: SourceEvent): void => {
    intake.take(event);
    // Of another machine the addresses of its Node object stand for all.
    if (!machine && event.kind === 'node' && event.type === 'put' && event.key === nodeName) {
      intake.takeMachineAddresses(event.object.addresses);
    }
    changed();
  };
  const following = Promise.all([
    source.run(take, lifetime.signal),
    machine?.addresses.run((all) => {
      intake.takeMachineAddresses(all);
      changed();
    }, lifetime.signal),
  ]);
  const stop = async (): Promise<void> => {
    lifetime.abort();
    await following;
  };
  try {
    const ended = following.then(() => undefined);
    await waitForSource(Promise.race([complete.promise, ended]), source);
    isRead = true;
    assertWhole(broken);
  } catch (error) {
    await stop();
    throw error;
  }
  warnOfGaps(source.server?.());
  const onChange = (told: () => void): void => {
    listener = told;
  };
  return { intake, onChange, following, stop };
}

function isBrokenManifest({ code }: ClusterError): boolean {
  return code === 'MANIFEST_UNREADABLE' || code === 'MANIFEST_BROKEN';
}

/** An answer from half of the manifests would be a wrong one. */
function assertWhole([first, ...others]: readonly ClusterError[]): void {
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const { code } = first;
  // The name of a file may hold anything.
  const message = visible(first.message);
  const next = code === 'MANIFEST_BROKEN' ? 'fix the document' : first.next;
  throw new ClusterError(code, `${message}${more}`, { next, cause: first });
}
