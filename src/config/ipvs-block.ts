import type { Problem } from './config-problem.ts';
import type { ResolvedFields } from './layers.ts';
import { type ModeName, traitsOf } from './modes.ts';
import type { IpvsSettings } from './settings.ts';

const BY_DESTINATION =
  'chooses by the address that the client connects to, so all clients of a Service reach the same endpoint';

/** Schedulers that hardly anybody wants for every Service. */
const DOUBTFUL: Readonly<Record<string, string>> = {
  dh: BY_DESTINATION,
  lblc: `${BY_DESTINATION} until it is overloaded`,
  lblcr: `${BY_DESTINATION} until it is overloaded`,
  ovf: 'gives each endpoint two connections at a time and no more, because weights are 1; name it for single Services with fairlead.dev/ipvs-scheduler: ovf,weight=N',
};

export function ipvsWarnings(fields: ResolvedFields, mode: ModeName): readonly Problem[] {
  if (traitsOf(mode).syncBlock !== 'ipvs') return [];
  const { value, origin } = fields['ipvs.scheduler'];
  const message = Object.hasOwn(DOUBTFUL, value) ? DOUBTFUL[value] : undefined;
  if (message === undefined) return [];
  const subject = origin.from === 'flag' ? `--${origin.flag}` : 'ipvs.scheduler';
  return [
    {
      subject,
      message: `${value} ${message}`,
      ...(origin.from === 'file' ? { place: origin.place } : {}),
    },
  ];
}

export function ipvsSettings(fields: ResolvedFields): IpvsSettings {
  return {
    scheduler: fields['ipvs.scheduler'].value,
    excludeCidrs: [...fields['ipvs.excludeCIDRs'].value],
    ...timeout('tcpTimeoutMs', fields['ipvs.tcpTimeout'].value),
    ...timeout('tcpFinTimeoutMs', fields['ipvs.tcpFinTimeout'].value),
    ...timeout('udpTimeoutMs', fields['ipvs.udpTimeout'].value),
  };
}

/** Left out if it is 0. */
function timeout<Name extends string>(name: Name, ms: number): { readonly [N in Name]?: number } {
  return (ms === 0 ? {} : { [name]: ms }) as { readonly [N in Name]?: number };
}
