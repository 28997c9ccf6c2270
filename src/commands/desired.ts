import type { HeldPort } from '../agent/host-sockets.ts';
import { Intake } from '../agent/intake.ts';
import type { MachineAddresses } from '../agent/machine-addresses.ts';
import { ClusterError } from '../cluster/cluster-error.ts';
import type { SourceEvent } from '../cluster/source.ts';
import { traitsOf } from '../config/modes.ts';
import type { Settings } from '../config/settings.ts';
import {
  configuredSource,
  openSource,
  problemWarnings,
  type SourceOptions,
  warnOfGaps,
} from './open-source.ts';
import { waitForSource } from './services/wait-for-source.ts';
import { visible } from './terminal/visible.ts';

/** The state of this machine. */
export interface ObservedMachine {
  readonly addresses: MachineAddresses;
  /** Undefined: listening ports are not known. */
  readonly listSockets?: () => Promise<readonly HeldPort[]>;
}

export interface NodeToObserve {
  readonly settings: Settings;
  readonly nodeName: string;
  /** Its values override the settings. */
  readonly from: SourceOptions;
  /** Undefined: another machine, known only by its Node object. */
  readonly machine: ObservedMachine | undefined;
}

/** The desired rows of a node, kept up to date until stopped. */
export interface ObservedNode {
  readonly intake: Intake;
  /** Calls back after each event from now on. */
  onChange(listener: () => void): void;
  /** Settles when the source ends. */
  readonly following: Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Reads the cluster or manifests completely, and computes what `fairlead run` with the same
 * configuration would write.
 */
export async function observeNode(node: NodeToObserve): Promise<ObservedNode> {
  const { settings, nodeName, from, machine } = node;
  const needs = traitsOf(settings.mode).needs;
  const broken: ClusterError[] = [];
  let isRead = false;
  const warn = problemWarnings();
  const source = await openSource(
    {
      ...configuredSource(settings),
      ...from,
      onProblem: (problem, kind) => {
        // Later problems, while changes are followed, do not fail the command.
        if (!isRead && isBrokenManifest(problem)) broken.push(problem);
        else warn(problem, kind);
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
    // For another machine, the addresses of its Node object are used.
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

/** Incomplete manifests would give a wrong result. */
function assertWhole([first, ...others]: readonly ClusterError[]): void {
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const { code } = first;
  // File names are untrusted text.
  const message = visible(first.message);
  const next = code === 'MANIFEST_BROKEN' ? 'fix the document' : first.next;
  throw new ClusterError(code, `${message}${more}`, { next, cause: first });
}
