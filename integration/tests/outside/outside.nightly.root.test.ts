import { testOutside } from './tests.ts';

// Where clients are rules of iptables, and where they are programs at interfaces.
for (const variant of ['fairlead-iptables', 'fairlead-tc-ebpf']) testOutside(variant);
