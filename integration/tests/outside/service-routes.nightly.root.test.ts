import { FAIRLEAD_NAMES } from '../../../lab/proxies/fairlead.ts';
import { testServiceRoutes } from './service-routes.ts';

// The scenario outside/no-default-route asks the first mode on each landing.
for (const variant of FAIRLEAD_NAMES) testServiceRoutes(variant);
