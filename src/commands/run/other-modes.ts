import type { Logger } from 'pino';
import type { Mode } from '../../config/modes.ts';
import { PLANE_MODES } from './plane.ts';
import { removePlane } from './remove-plane.ts';

/**
 * Takes away what another mode has left, kube-proxy's included; call it when this one is complete.
 * Connections that stand are translated by connection tracking and notice nothing.
 */
export async function removeOtherModes(mode: Mode, log: Logger): Promise<void> {
  for (const other of PLANE_MODES) {
    if (other === mode) continue;
    try {
      const removed = await removePlane(other);
      const frontends = removed?.length ?? 0;
      if (frontends > 0) log.info({ mode: other, frontends }, 'removed what a mode had left');
    } catch (error) {
      // What else is there does not keep this mode from working.
      log.warn(`what mode ${other} may have left is still there: ${String(error)}`);
    }
  }
}
