import type { Backing } from '../../forwarding/backing.ts';
import type { Candidate } from '../../forwarding/candidates.ts';
import type { ServicePortId } from '../../forwarding/model.ts';

/** A row without an endpoint that could serve. */
export interface EmptyRow {
  readonly id: ServicePortId;
  readonly candidates: readonly Candidate[];
  /** Undefined: an older agent does not say. */
  readonly backing?: Backing;
}

export const SERVICE_LABEL = 'kubernetes.io/service-name';

/** `port http`, `the unnamed port`. */
export function portText(name: string): string {
  return name === '' ? 'the unnamed port' : `port ${name}`;
}

/** Words for kubectl that list the slices of a Service. */
export function slicesOf(service: string, ...more: readonly string[]): readonly string[] {
  return ['get', 'endpointslices', '-l', `${SERVICE_LABEL}=${service}`, ...more];
}
