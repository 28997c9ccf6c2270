import { testOutside } from './tests.ts';

// The other modes are asked by night.
for (const variant of ['fairlead-nftables', 'fairlead-tc-ebpf']) testOutside(variant);
