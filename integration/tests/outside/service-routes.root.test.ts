import { testServiceRoutes } from './service-routes.ts';

// The other modes are asked by night.
for (const variant of ['fairlead-nftables', 'fairlead-tc-ebpf']) testServiceRoutes(variant);
