import { type Group, runGroup } from '../group.ts';

const MEASURE: Group = {
  name: 'measure',
  about: 'Measures parts of Fairlead alone; `npm run bench` measures it beside kube-proxy.',
  commands: [
    {
      name: 'size',
      about: 'time and memory from connecting to a complete model, beside a bare client',
      load: () => import('./size/command.ts'),
    },
    {
      name: 'scale',
      about: 'what changes, starts and memory cost in large clusters, held to limits',
      load: () => import('./scale/command.ts'),
    },
    {
      name: 'bpf',
      about: 'reading and writing eBPF maps, beside the same system calls from C',
      load: () => import('./bpf/command.ts'),
    },
    {
      name: 'socket-hooks',
      about: 'a full load and single changes of the socket-ebpf maps, beside a C program',
      load: () => import('./socket-hooks/command.ts'),
    },
    {
      name: 'iptables-writers',
      about: 'changes of the iptables mode, by netlink and by iptables-restore',
      load: () => import('./iptables-writers/command.ts'),
    },
  ],
};

await runGroup(MEASURE, process.argv.slice(2));
