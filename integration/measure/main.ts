import { type Group, runGroup } from '../group.ts';

const MEASURE: Group = {
  name: 'measure',
  about: 'Measures parts of Fairlead alone; `npm run bench` compares it with kube-proxy.',
  commands: [
    {
      name: 'scale',
      about: 'cost of changes, starts and memory in large clusters, with limits',
      load: () => import('./scale/command.ts'),
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
