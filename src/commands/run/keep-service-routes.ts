import { formatCidr } from '../../addresses/cidr.ts';
import { ServiceRoutes } from '../../agent/service-routes.ts';
import type { Settings } from '../../config/settings.ts';
import { NetlinkError } from '../../linux/netlink/netlink-error.ts';
import { KernelRouteKeeper } from '../../linux/route/keep-routes.ts';
import { listOurRoutes, removeRoute } from '../../linux/route/our-routes.ts';
import type { Logger } from '../../log/logger.ts';
import { systemClock } from '../../time/clock.ts';

type RouteSettings = Pick<Settings, 'serviceRoutes'>;

/** Undefined: Fairlead keeps no routes. */
export function serviceRoutes(
  { serviceRoutes: wanted }: RouteSettings,
  log: Logger,
): ServiceRoutes | undefined {
  if (wanted === 'none') return undefined;
  return new ServiceRoutes({ keeper: new KernelRouteKeeper({ clock: systemClock }), log });
}

/** Removes routes of an earlier run, if this one keeps none. */
export async function removeUnwantedRoutes(
  { serviceRoutes: wanted }: RouteSettings,
  log: Pick<Logger, 'info' | 'warn'>,
): Promise<void> {
  if (wanted !== 'none') return;
  try {
    for (const route of await listOurRoutes()) {
      await removeRoute(route);
      log.info({ range: formatCidr(route.to) }, 'removed a route of an earlier run');
    }
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    log.warn({ code: error.code }, `cannot remove routes of an earlier run: ${error.message}`);
  }
}
