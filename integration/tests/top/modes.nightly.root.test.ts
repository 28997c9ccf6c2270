import { testTop } from './in-mode.ts';

testTop({ mode: 'nftables', knowsLive: true });
testTop({ mode: 'iptables', knowsLive: true, resetsTcp: false });
testTop({ mode: 'tc-ebpf', knowsLive: true });
testTop({ mode: 'socket-ebpf', knowsLive: false });
testTop({ mode: 'userspace', knowsLive: true });
