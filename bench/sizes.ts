import { LabError } from '../lab/host/errors.ts';
import type { LoadSize } from '../lab/load/objects.ts';

export const PUBLISHED_SIZES = '100x5,1000x5,5000x5,10000x10,50000x5';

/** No loaded Service: those of the benchmark itself are all there is. */
export const NO_LOAD: LoadSize = { services: 0, endpointsPerService: 0 };

/** `100x5,1000x5`: Services, and endpoints of each; the smallest first. */
export function parseSizes(text: string): LoadSize[] {
  const sizes = text.split(',').map((part) => {
    const [, services, endpoints] = /^(\d+)x(\d+)$/.exec(part.trim()) ?? [];
    if (services === undefined) {
      throw new LabError('LAB_USAGE', `'${part}' is not a size`, {
        next: 'write Services x endpoints of each, for example 100x5,1000x5',
      });
    }
    return { services: Number(services), endpointsPerService: Number(endpoints) };
  });
  return sizes.toSorted((a, b) => endpointsIn(a) - endpointsIn(b));
}

export function endpointsIn({ services, endpointsPerService }: LoadSize): number {
  return services * endpointsPerService;
}

export function sizeText({ services, endpointsPerService }: LoadSize): string {
  if (services === 0) return 'no load';
  return `${services.toLocaleString('en')} x ${endpointsPerService}`;
}

export function isSameSize(a: LoadSize, b: LoadSize): boolean {
  return a.services === b.services && a.endpointsPerService === b.endpointsPerService;
}
