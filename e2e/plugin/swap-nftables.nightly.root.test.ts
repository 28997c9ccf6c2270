import { testThereAndBack } from './swap-there-and-back.ts';

testThereAndBack('upstream-nftables', { hasTables: true });
