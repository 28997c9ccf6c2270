import { testOutside } from './tests.ts';

// Scenarios outside/* run on each landing. Here the configuration changes while it runs: where clients
// are rules of nftables, rules of iptables, and programs at interfaces.
const VARIANTS = ['fairlead-nftables', 'fairlead-iptables', 'fairlead-tc-ebpf'];

for (const variant of VARIANTS) testOutside(variant);
