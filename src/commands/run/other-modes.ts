import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.ts';
import { PLANE_PARTS, partsOfMode } from './plane.ts';
import { removePart } from './remove-plane.ts';

/**
 * Takes away what another mode has left, kube-proxy's included; call it when this one is complete.
 * Connections that stand are translated by connection tracking, or have their endpoint in the
 * socket, and notice nothing.
 */
export async function removeOtherModes({ mode, ebpf }: Settings, log: Logger): Promise<void> {
  const own = partsOfMode(mode);
  for (const part of PLANE_PARTS) {
    if (own.includes(part)) continue;
    try {
      const removed = await removePart(part, { ebpf });
      const frontends = removed?.length ?? 0;
      if (frontends > 0) log.info({ part, frontends }, 'removed what a mode had left');
    } catch (error) {
      // What else is there does not keep this mode from working.
      log.warn(`what is left of ${part} is still there: ${String(error)}`);
    }
  }
}
