import { PlaneError } from '../../../dataplanes/contract.ts';

export type ForwarderCode =
  | 'FORWARDER_MISSING'
  | 'FORWARDER_NOT_STARTED'
  | 'FORWARDER_ENDED'
  | 'FORWARDER_SILENT'
  | 'FORWARDER_FAILED';

/** Why the forwarder cannot be used. The kernel forwards meanwhile. */
export function forwarderError(
  code: ForwarderCode,
  message: string,
  about: { readonly next?: string; readonly cause?: unknown } = {},
): PlaneError {
  const { next = 'no action needed: nftables forwards, and it is started again', cause } = about;
  return new PlaneError(message, { code, next, cause });
}
