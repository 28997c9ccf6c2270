import { type Group, runGroup } from '../group.ts';

const COMPARE: Group = {
  name: 'compare',
  about: 'Compares Fairlead with kube-proxy, and with its own earlier versions.',
  commands: [
    {
      name: 'oracle',
      about: "the policy for generated clusters, compared with kube-proxy's own code",
      load: () => import('./oracle/command.ts'),
    },
    {
      name: 'config',
      about: 'small configuration files, as both programs read them',
      load: () => import('./config/command.ts'),
    },
    {
      name: 'iptables',
      about: "iptables-save of kube-proxy's rules and of Fairlead's",
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
      name: 'answers',
      about:
        'services, explain and render about the same objects as an earlier commit, in every mode',
      load: () => import('./answers/command.ts'),
    },
    {
      name: 'kernels',
      about: 'answers of the conformance scenarios in two kernels',
      load: () => import('./kernels/command.ts'),
    },
    {
      name: 'upgrade',
      about: 'an earlier commit to this one and back, under load',
      load: () => import('./upgrade/command.ts'),
    },
    {
      name: 'takeover',
      about: 'replacing each proxy with each other on one node, under load',
      load: () => import('./takeover/command.ts'),
    },
  ],
};

await runGroup(COMPARE, process.argv.slice(2));
