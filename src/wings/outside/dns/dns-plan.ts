import { UNIT_FOLDER } from '../paths.ts';

/** What split DNS on this machine shall be. */
export interface DnsPlan {
  /** Addresses of the cluster's DNS Service. */
  readonly servers: readonly string[];
  readonly domain: string;
}

/** The interface that systemd-resolved ties the cluster's domain to. */
export const DNS_LINK = 'fairlead0';
export const DNS_UNIT_NAME = 'fairlead-dns.service';
export const DNS_UNIT_FILE = `${UNIT_FOLDER}/${DNS_UNIT_NAME}`;
/** A name that every cluster has. */
export function knownName({ domain }: Pick<DnsPlan, 'domain'>): string {
  return `kubernetes.default.svc.${domain}`;
}
