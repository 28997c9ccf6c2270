import { testOutside } from './tests.ts';

const VARIANTS = ['fairlead-iptables', 'fairlead-iptables-legacy', 'fairlead-socket-ebpf'];

for (const variant of VARIANTS) testOutside(variant);
