import { type Group, runGroup } from '../group.ts';

const BREAK: Group = {
  name: 'break',
  about: 'Breaks what Fairlead depends on, and measures how it recovers.',
  commands: [
    {
      name: 'faults',
      about: 'the API server, the network to it, and the kernel state of a node',
      load: () => import('./faults/command.ts'),
    },
    {
      name: 'neighbour',
      about: 'a hostile user with rights in one namespace, measured from another',
      load: () => import('./neighbour/command.ts'),
    },
    {
      name: 'incidents',
      about: 'what goes wrong in a cluster, and whether explain and doctor tell the truth of it',
      load: () => import('./incidents/command.ts'),
    },
    {
      name: 'fuzz',
      about: 'malformed objects and malformed watches as input of the model',
      load: () => import('./fuzz/command.ts'),
    },
    {
      name: 'traps',
      about: 'mistakes that a forwarder on sockets makes easily, each planted and caught',
      load: () => import('./traps/command.ts'),
    },
    {
      name: 'netem',
      about: 'packets that are late and lost during a rollout; needs --kernel uml on most machines',
      load: () => import('./netem/command.ts'),
    },
    {
      name: 'soak',
      about: 'changes and clients for an hour: does memory, or anything else, grow?',
      load: () => import('./soak/command.ts'),
    },
    {
      name: 'drift',
      about: 'time until external changes of the iptables chains are repaired',
      load: () => import('./drift/command.ts'),
    },
  ],
};

await runGroup(BREAK, process.argv.slice(2));
