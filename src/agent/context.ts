import type { DataPlane } from '../dataplanes/contract.ts';
import type { Logger } from '../log/logger.ts';
import type { Clock } from '../time/clock.ts';
import type { Random } from '../time/retry-delay.ts';
import type { Intake } from './intake.ts';
import type { Observers } from './observer.ts';
import type { Outstanding } from './outstanding.ts';
import type { Propagations } from './propagation.ts';

/** What the parts of the loop share. */
export interface Context {
  readonly plane: DataPlane;
  readonly intake: Intake;
  readonly outstanding: Outstanding;
  readonly propagations: Propagations;
  readonly observers: Observers;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}
