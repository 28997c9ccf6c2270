import { testThereAndBack } from './swap-there-and-back.ts';

testThereAndBack('upstream-iptables', { hasTables: false });
