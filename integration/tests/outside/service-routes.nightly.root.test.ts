import { FAIRLEAD_VARIANTS } from '../../../lab/proxies/fairlead.ts';
import { canRunHere } from '../../../lab/proxies/registry.ts';
import { testServiceRoutes } from './service-routes.ts';

// The scenario outside/no-default-route asks the first mode on each landing.
for (const { name } of FAIRLEAD_VARIANTS.filter(canRunHere)) testServiceRoutes(name);
