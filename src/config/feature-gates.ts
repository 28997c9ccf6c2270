import type { ResolvedFields } from './layers.ts';
import type { Problem } from './problem.ts';
import type { FeatureSettings } from './settings.ts';

/** Gates that decide something here, with kube-proxy's default. */
const MEANINGFUL = {
  AllowServiceExternalIPs: true,
  ComponentFlagz: true,
  ComponentStatusz: true,
} as const;

/** What kube-proxy 1.36 no longer lets anybody switch off, and Fairlead always does. */
const ALWAYS_ON: readonly string[] = [
  'MultiCIDRServiceAllocator',
  'NFTablesProxyMode',
  'PreferSameTrafficDistribution',
];

export function featureSettings({ featureGates }: ResolvedFields): FeatureSettings {
  const gate = (name: keyof typeof MEANINGFUL): boolean =>
    (Object.hasOwn(featureGates.value, name) ? featureGates.value[name] : undefined) ??
    MEANINGFUL[name];
  return {
    serviceExternalIps: gate('AllowServiceExternalIPs'),
    flagzPage: gate('ComponentFlagz'),
    statuszPage: gate('ComponentStatusz'),
  };
}

/**
 * Gates come and go with every release of Kubernetes, and a proxy that refuses to start over a name
 * takes a node down for nothing; so this warns where kube-proxy refuses.
 */
export function featureGateWarnings({ featureGates }: ResolvedFields): readonly Problem[] {
  const place = featureGates.origin.from === 'file' ? { place: featureGates.origin.place } : {};
  return Object.entries(featureGates.value).flatMap(([name, isOn]) => {
    if (Object.hasOwn(MEANINGFUL, name)) return [];
    if (ALWAYS_ON.includes(name)) {
      if (isOn) return [];
      const message = 'cannot be switched off; kube-proxy would refuse to start';
      return [{ subject: `featureGates.${name}`, message, ...place }];
    }
    return [
      { subject: `featureGates.${name}`, message: 'has no meaning here and is ignored', ...place },
    ];
  });
}
