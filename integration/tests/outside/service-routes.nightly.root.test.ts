import { testServiceRoutes } from './service-routes.ts';

const VARIANTS = ['fairlead-iptables', 'fairlead-iptables-legacy', 'fairlead-socket-ebpf'];

for (const variant of VARIANTS) testServiceRoutes(variant);
