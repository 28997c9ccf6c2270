import { type NetworkProcess, networkProcesses } from '../../linux/network-processes.ts';
import { check } from '../doctor-check.ts';
import { note, orOk, problem } from '../finding.ts';

/** Fairlead names its own process, also where it was started as kube-proxy. */
const PROXY = 'kube-proxy';
/** Network plugins that can serve Services themselves, by their configuration. */
const POSSIBLE: ReadonlySet<string> = new Set(['cilium-agent', 'kube-router', 'antrea-agent']);

export const OTHER_PROXIES = check<readonly NetworkProcess[]>({
  name: 'other-proxies',
  read: () => networkProcesses(),
  judge: (processes) => {
    const found = processes.flatMap(({ pid, name }) => {
      const what = `${name} runs on this node (pid ${pid})`;
      if (name === PROXY) {
        const why = 'two proxies translate the same Services, each as it likes';
        const next = 'stop kube-proxy here: docs/install.md has the steps';
        return [problem('OTHER_PROXY', { what, why, next })];
      }
      if (!POSSIBLE.has(name)) return [];
      const why =
        'it can serve Services too; then connections may never reach the rules of Fairlead';
      const next = 'turn its own proxy for Services off in its configuration';
      return [note('OTHER_PROXY_POSSIBLE', { what, why, next })];
    });
    return orOk(found, 'no other proxy for Services seen');
  },
});
