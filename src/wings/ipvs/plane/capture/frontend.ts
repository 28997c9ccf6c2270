import type { Family, Protocol, SourceClass } from '../../../../forwarding/model.ts';

/** What the capture does with a new connection: leaves it to the rules behind, or gives it to IPVS. */
export type Capture = 'pass' | 'take' | 'take-and-masquerade';

/** An address whose connections IPVS gets, from the source classes that say so. */
export interface CapturedFrontend {
  readonly family: Family;
  readonly protocol: Protocol;
  readonly address: string;
  readonly port: number;
  readonly capture: Readonly<Record<SourceClass, Capture>>;
}
