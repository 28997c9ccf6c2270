import { type Group, runGroup } from '../group.ts';

const PICTURES: Group = {
  name: 'pictures',
  about: 'Makes the pictures of the documentation from what runs.',
  commands: [
    {
      name: 'view',
      about: 'every screen of `fairlead view`, of a real agent with real connections',
      load: () => import('./view/command.ts'),
    },
    {
      name: 'explain',
      about: 'the cases of docs/explain.md, of a real agent with packets and planted faults',
      load: () => import('./explain/command.ts'),
    },
    {
      name: 'shell',
      about: 'a user without rights in `fairlead shell`, on a real node',
      load: () => import('./shell/command.ts'),
    },
  ],
};

await runGroup(PICTURES, process.argv.slice(2));
