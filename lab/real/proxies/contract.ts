import type { PartsAndTools } from '../../parts/build.ts';

export interface ProxyContext {
  readonly parts: PartsAndTools;
  /** A folder for files that end with the cluster. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

/** A proxy that a cluster with real nodes can run, as a pod on each of them. */
export interface RealProxy {
  readonly name: string;
  readonly description: string;
  /** Upstream's own: what it passes, the others must pass. */
  readonly isUpstream: boolean;
  /** Path of an archive that holds the image; undefined if nodes shall pull it. */
  provideArchive(context: ProxyContext): Promise<string | undefined>;
  /** Writes its objects to the folder; returns the arguments for `kubectl apply`. */
  writeObjects(folder: string): Promise<readonly string[]>;
  /** It may miss the zone of its node at its start, and needs the event again. */
  readonly mayMissZoneAtStart: boolean;
}
