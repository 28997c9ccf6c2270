import { testOutside } from './tests.ts';

// The other modes are asked by night.
testOutside('fairlead-nftables');
