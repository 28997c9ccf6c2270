import { paths } from '../../lab/api/objects.ts';
import type { Progress } from '../../lab/host/progress.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import type { LoadSize } from '../../lab/load/objects.ts';
import { SourcePorts } from '../control/source-ports.ts';
import { ApiBytes } from './api-bytes.ts';
import { BulkServices } from './bulk-services.ts';
import { DataPods } from './data-pods.ts';
import { LastService } from './last-service.ts';
import { LoadedSlices } from './loaded-slices.ts';
import { NAMESPACE } from './names.ts';
import { RollingService } from './rolling-service.ts';

/** A cluster of one size with everything that is measured. Proxies run in turn on its first node. */
export interface Site extends AsyncDisposable {
  readonly lab: Lab;
  readonly size: LoadSize;
  readonly last: LastService;
  /** For clients on the first node. */
  readonly ports: SourcePorts;
  readonly rolling: RollingService;
  readonly bulk: BulkServices;
  readonly loaded: LoadedSlices;
  readonly apiBytes: ApiBytes;
  readonly data: DataPods;
  /** When the kernel has forgotten what the last proxy left. */
  rested: Promise<void>;
}

export interface SiteOptions {
  readonly size: LoadSize;
  /** Path of the program that serves and asks. */
  readonly program: string;
  /** Some proxy of the run is attached to a control group. */
  readonly hasSocketPlaces: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export async function openSite(options: SiteOptions): Promise<Site> {
  const { size, progress, signal, program } = options;
  const load = size.services === 0 ? undefined : size;
  const lab = await startLab({ nodeCount: 2, load, progress, signal });
  try {
    // The same client location for every proxy, and without one, so that figures are comparable.
    if (options.hasSocketPlaces) await lab.makeSocketPlaces();
    await lab.api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
    const apiBytes = new ApiBytes(lab);
    await apiBytes.prepare();
    const last = await LastService.create(lab);
    return {
      lab,
      size,
      last,
      ports: new SourcePorts(),
      apiBytes,
      rolling: new RollingService(lab),
      data: await DataPods.create(lab, program),
      bulk: new BulkServices(lab, last.answeringAddress),
      loaded: new LoadedSlices(lab.api, size),
      rested: Promise.resolve(),
      [Symbol.asyncDispose]: async () => await lab[Symbol.asyncDispose](),
    };
  } catch (error) {
    await lab[Symbol.asyncDispose]();
    throw error;
  }
}
