import { KUBERNETES_VERSION } from './build.ts';

/** Versions of Kubernetes that the control plane of a lab can be, or behave as; the oldest first. */
export const API_VERSIONS = ['1.33', '1.34', '1.35', '1.36', '1.37'] as const;

export type ApiVersion = (typeof API_VERSIONS)[number];

export const NEWEST_API_VERSION: ApiVersion = '1.37';

/** An API server emulates the three versions before its own: the newest does not reach 1.33. */
export const EARLIER_VERSION = 'v1.36.4';

/** Whether the earlier programs run: they are that version, or closer to it than the newest. */
export function isEarlier(version: ApiVersion): boolean {
  return version !== NEWEST_API_VERSION;
}

/** For kube-apiserver and kube-controller-manager; none where they are that version. */
export function emulationArguments(version: ApiVersion): string[] {
  return isEmulated(version) ? [`--emulated-version=${version}`] : [];
}

/** `v1.36.4`, or `v1.33, emulated by v1.36.4`. */
export function describeApiVersion(version: ApiVersion): string {
  const program = programVersion(version);
  return isEmulated(version) ? `v${version}, emulated by ${program}` : program;
}

/** Whether a server of one version accepts what came with another. */
export function hasApiOf(server: ApiVersion, needed: ApiVersion): boolean {
  return API_VERSIONS.indexOf(server) >= API_VERSIONS.indexOf(needed);
}

function isEmulated(version: ApiVersion): boolean {
  return !programVersion(version).startsWith(`v${version}.`);
}

function programVersion(version: ApiVersion): string {
  return isEarlier(version) ? EARLIER_VERSION : KUBERNETES_VERSION;
}
