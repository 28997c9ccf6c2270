import type { Command } from 'commander';
import type { TunnelCounts } from '../agent/status-page.ts';
import type { ClusterAccess } from '../cluster/access.ts';
import type { Source } from '../cluster/source.ts';
import type { ModeName } from '../config/modes.ts';
import type { ListenAddress } from '../config/network-text.ts';
import type { Settings } from '../config/settings.ts';
import type { DropWatch, End } from '../linux/drops/drop.ts';
import type { Logger } from '../log/logger.ts';
import type { Mode, OpenMode } from './mode.ts';
import type { AttachmentWords } from './part.ts';
import type { StatusWords } from './status-words.ts';

/** A command that is loaded when it is called: a start must not pay for the others. */
export interface CommandEntry {
  readonly name: string;
  readonly load: () => Promise<Command>;
}

/** A network for a machine without routes to pods (`fairlead.podNetwork`). */
export interface PodNetwork {
  /** The same source, whose events are seen here too. */
  tapped(source: Source): Source;
  counts(): TunnelCounts;
  /** Leaves no route behind when the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface PodNetworkOptions {
  readonly access: ClusterAccess;
  readonly log: Logger;
  readonly dnsStub?: ListenAddress | undefined;
  readonly clusterDomain: string;
}

export interface PodNetworks {
  open(options: PodNetworkOptions): PodNetwork;
  /** What is in the kernel now, of this process or of one that was killed. */
  count(): Promise<{ readonly rules: number; readonly routes: number }>;
  remove(): Promise<void>;
}

/** The packets that the kernel drops, of connections with one of the ends; or in words why it cannot. */
export type WatchDrops = (ends: readonly End[], signal: AbortSignal) => DropWatch | string;

/** Removes what a kube-proxy in ipvs mode has left; call it when its chains of iptables are gone. */
export type RemoveKubeProxyIpvs = (
  parts: {
    readonly opened: Pick<OpenMode, 'adoptServers'>;
    readonly log: Pick<Logger, 'info' | 'warn'>;
    readonly ipvs: Pick<Settings['ipvs'], 'excludeCidrs'>;
  },
  signal: AbortSignal,
) => Promise<void>;

/** Loaded when it is chosen. */
export interface ModeEntry {
  readonly name: ModeName;
  readonly load: () => Promise<Mode>;
  /** Undefined: it adds nothing to the page of `fairlead status`. */
  readonly statusWords?: () => Promise<StatusWords>;
}

/**
 * What can be taken off: folders and an entry in src/wings/wing-registry.ts. What it hands in is loaded when it
 * is used; what is not there is said to be missing.
 */
export interface Wing {
  readonly name: string;
  readonly modes?: readonly ModeEntry[];
  /** How `fairlead status` speaks of what its planes attach. */
  readonly attachments?: readonly AttachmentWords[];
  readonly removeKubeProxyIpvs?: () => Promise<RemoveKubeProxyIpvs>;
  readonly watchDrops?: () => Promise<WatchDrops>;
  readonly podNetworks?: () => Promise<PodNetworks>;
  /** A line of `fairlead status` about the token of a machine outside the cluster; undefined: none. */
  readonly tokenNote?: () => Promise<(nowMs: number) => Promise<string | undefined>>;
}
