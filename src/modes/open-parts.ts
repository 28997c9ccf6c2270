import type { ModeName } from '../config/modes.ts';
import { ComposedPlane } from '../dataplanes/composition.ts';
import { type DataPlane, PlaneError } from '../dataplanes/contract.ts';
import type { Part, Surroundings } from './part.ts';

export interface TwoParts {
  readonly mode: ModeName;
  readonly front: Part;
  readonly behind: Part;
}

/** Two planes: packets that the front passes, or all if it cannot be used, go to the one behind. */
export function openTwoParts({ mode, front, behind }: TwoParts, around: Surroundings): DataPlane {
  return new ComposedPlane({
    mode,
    front: front.open(around),
    behind: behind.open(around),
    onFrontLost: (error) =>
      around.onWarning?.(
        `${front.name} cannot be used; falling back to ${behind.name}: ${reasonOf(error)}`,
      ),
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof PlaneError) return `${error.message} (${error.code}). Next: ${error.next}`;
  return String(error);
}
