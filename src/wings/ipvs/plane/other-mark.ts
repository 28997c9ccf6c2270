import type { NodeFacts } from '../../../dataplanes/contract.ts';
import { captureMark } from './capture/marks.ts';
import type { IpvsPlaneOptions } from './ipvs-options.ts';

type Parts = Pick<IpvsPlaneOptions, 'capture' | 'markConnections' | 'onWarning'>;

/**
 * The mark of captured connections follows from the masquerade mark. `change` writes tables that know
 * the new one only: connections that were captured by the old one get both before, and those that come
 * meanwhile get them afterwards.
 */
export async function withMarks<T>(
  parts: Parts,
  facts: NodeFacts,
  change: () => Promise<T>,
): Promise<T> {
  if (!(await parts.capture.hasOtherMark(facts))) return await change();
  await markCaptured(parts, facts);
  const changed = await change();
  await markCaptured(parts, facts);
  return changed;
}

/** Without it connections end, but new ones are forwarded: no reason to fail. */
async function markCaptured(parts: Parts, { masqueradeMark }: NodeFacts): Promise<void> {
  try {
    const { servers } = await parts.capture.read();
    await parts.markConnections?.([...servers.values()], captureMark(masqueradeMark));
  } catch (error) {
    parts.onWarning?.(
      `open connections may end, because masqueradeBit has changed and they could not be marked: ${String(error)}`,
    );
  }
}
