import { paths } from '../../lab/api/objects.ts';
import type { Progress } from '../../lab/host/progress.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import type { LoadSize } from '../../lab/load/objects.ts';
import { ApiBytes } from '../site/api-bytes.ts';
import { LastService } from '../site/last-service.ts';
import { NAMESPACE } from '../site/names.ts';

/** A cluster with a node for every machine of the fleet, none of which has a proxy yet. */
export interface FleetSite extends AsyncDisposable {
  readonly lab: Lab;
  readonly last: LastService;
  readonly apiBytes: ApiBytes;
}

export async function openFleetSite(of: {
  readonly size: LoadSize;
  readonly machines: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}): Promise<FleetSite> {
  const { size, machines, progress, signal } = of;
  const lab = await startLab({ nodeCount: machines, load: size, progress, signal });
  try {
    await lab.api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
    const apiBytes = new ApiBytes(lab, 'every node');
    await apiBytes.prepare();
    const last = await LastService.create(lab);
    return { lab, last, apiBytes, [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose]() };
  } catch (error) {
    await lab[Symbol.asyncDispose]();
    throw error;
  }
}
