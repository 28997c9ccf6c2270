import { type Group, runGroup } from '../group.ts';

const COMPARE: Group = {
  name: 'compare',
  about: 'Compares Fairlead with kube-proxy.',
  commands: [
    {
      name: 'oracle',
      about: "what Fairlead makes of generated clusters, and what kube-proxy's own code makes",
      load: () => import('./oracle/command.ts'),
    },
    {
      name: 'config',
      about: 'small configuration files, as both programs read them',
      load: () => import('./config/command.ts'),
    },
    {
      name: 'iptables',
      about: "what iptables-save prints of kube-proxy's rules and of Fairlead's",
      load: () => import('./iptables/command.ts'),
    },
    {
      name: 'metrics',
      about: 'names, types and labels at /metrics, and the queries of a dashboard',
      load: () => import('./metrics/command.ts'),
    },
    {
      name: 'skew',
      about: 'Fairlead with API servers of every supported version, by packets',
      load: () => import('./skew/command.ts'),
    },
    {
      name: 'takeover',
      about: 'from each proxy to each other on one node, under load',
      load: () => import('./takeover/command.ts'),
    },
  ],
};

await runGroup(COMPARE, process.argv.slice(2));
