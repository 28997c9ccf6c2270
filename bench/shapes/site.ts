import { paths } from '../../lab/api/objects.ts';
import type { Progress } from '../../lab/host/progress.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { LastService } from '../site/last-service.ts';
import { NAMESPACE } from '../site/names.ts';
import { serveEveryAddress } from './every-address.ts';
import { LargeObject } from './large-object.ts';
import { BACKGROUND, type Shape } from './shapes.ts';
import { SmallService } from './small-service.ts';

/** A small cluster with one shape in it. Proxies come and go on its first node. */
export interface ShapeSite extends AsyncDisposable {
  readonly lab: Lab;
  readonly shape: Shape;
  readonly last: LastService;
  readonly large: LargeObject;
  readonly small: SmallService;
}

export interface ShapeSiteOptions {
  readonly shape: Shape;
  readonly hasSocketPlaces: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export async function openShapeSite(options: ShapeSiteOptions): Promise<ShapeSite> {
  const { shape, progress, signal } = options;
  const lab = await startLab({ nodeCount: 1, load: BACKGROUND, progress, signal });
  try {
    if (options.hasSocketPlaces) await lab.makeSocketPlaces();
    await lab.api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
    const last = await LastService.create(lab);
    await serveEveryAddress(lab);
    const large = await progress.step(`${shape.what}, through the API server`, () =>
      LargeObject.create(lab.api, shape),
    );
    return {
      lab,
      shape,
      last,
      large,
      small: new SmallService(lab.api),
      [Symbol.asyncDispose]: async () => await lab[Symbol.asyncDispose](),
    };
  } catch (error) {
    await lab[Symbol.asyncDispose]();
    throw error;
  }
}
