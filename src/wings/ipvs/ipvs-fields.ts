import { type Failure, failureOf } from '../../agent/failure.ts';
import type { IpvsReport } from './plane/ipvs-report.ts';

/** What mode ipvs adds to the page of `fairlead status`; one of the two. */
export interface IpvsFields {
  readonly ipvs?: IpvsReport;
  /** Why it could not be read. */
  readonly ipvsFailure?: Failure;
}

export async function ipvsFields(
  read: () => Promise<IpvsReport>,
  atMs: number,
): Promise<IpvsFields> {
  try {
    return { ipvs: await read() };
  } catch (error) {
    return { ipvsFailure: failureOf(error, atMs) };
  }
}
