import { type Group, runGroup } from '../group.ts';

const MEASURE: Group = {
  name: 'measure',
  about: 'Measures parts of Fairlead alone; `npm run bench` compares it with kube-proxy.',
  commands: [
    {
      name: 'size',
      about: 'time and memory from connecting to a complete model, compared with a bare client',
      load: () => import('./size/command.ts'),
    },
    {
      name: 'scale',
      about: 'cost of changes, starts and memory in large clusters, with limits',
      load: () => import('./scale/command.ts'),
    },
    {
      name: 'history',
      about: 'CPU of a change with and without a history, its memory, and its pauses',
      load: () => import('./history/command.ts'),
    },
    {
      name: 'bpf',
      about: 'reading and writing eBPF maps, compared with the same system calls from C',
      load: () => import('./bpf/command.ts'),
    },
    {
      name: 'socket-hooks',
      about: 'a full load and single changes of the socket-ebpf maps, compared with a C program',
      load: () => import('./socket-hooks/command.ts'),
    },
    {
      name: 'ipvs',
      about: 'a full load, single changes and reads of IPVS, compared with a C program',
      load: () => import('./ipvs/command.ts'),
    },
    {
      name: 'top',
      about: 'CPU of `fairlead top`, and CPU and memory of the agent beside it, in a large cluster',
      load: () => import('./top/command.ts'),
    },
    {
      name: 'view',
      about:
        'first data, ticks and CPU of `fairlead view`, and CPU and memory of the agent beside it, in a large cluster',
      load: () => import('./view/command.ts'),
    },
    {
      name: 'shell',
      about: '`fairlead shell` on a real node, beside `kubectl port-forward` and straight',
      load: () => import('./shell/command.ts'),
    },
  ],
};

await runGroup(MEASURE, process.argv.slice(2));
