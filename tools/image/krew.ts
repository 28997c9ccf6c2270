import { createHash } from 'node:crypto';

/** The name by which kubectl finds it. */
export const PLUGIN_NAME = 'kubectl-fairlead';

/** The manifest of the plugin for krew, as YAML: JSON is YAML too. */
export function pluginManifest(of: {
  readonly version: string;
  readonly archive: Uint8Array;
  /** Where the archive is found. */
  readonly url: string;
}): string {
  const manifest = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'fairlead' },
    spec: {
      version: `v${of.version}`,
      shortDescription: 'Ask the Fairlead agents of all nodes',
      description:
        'Runs status, explain, diff and doctor of Fairlead, a Kubernetes node proxy, on all nodes at once, ' +
        'by kubectl exec into the pods of its agents, and shows the answers as one table.',
      caveats:
        'Needs Node.js 24 or later on the PATH, and the right to exec into the pods of Fairlead.',
      platforms: [
        {
          selector: {
            matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }],
          },
          uri: of.url,
          sha256: createHash('sha256').update(of.archive).digest('hex'),
          bin: PLUGIN_NAME,
          files: [
            { from: PLUGIN_NAME, to: '.' },
            { from: 'LICENSE', to: '.' },
            { from: 'licenses', to: '.' },
          ],
        },
      ],
    },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
