import { check } from '../check.ts';
import { note, orOk } from '../finding.ts';

interface Facts {
  readonly needed: readonly {
    readonly name: string;
    readonly wanted: string;
    readonly value: string;
    readonly otherwise: string;
  }[];
}

export const MODE_SYSCTLS = check<Facts>({
  name: 'mode-sysctls',
  read: ({ modes, usedMode, sysctls }) => ({
    needed: (modes.find(({ name }) => name === usedMode)?.sysctls ?? []).map((each) => ({
      name: each.name.replaceAll('/', '.'),
      wanted: each.value,
      value: sysctls.read(each.name),
      otherwise: each.otherwise,
    })),
  }),
  judge: ({ needed }) => {
    const wrong = needed.filter(({ wanted, value }) => wanted !== value);
    return orOk(
      wrong.map(({ name, wanted, value, otherwise }) =>
        note('MODE_SYSCTL', {
          what: `${name} = ${value}, the mode needs ${wanted}`,
          why: otherwise,
          next: `sysctl -w ${name}=${wanted}`,
        }),
      ),
      `${needed.length} kernel settings that the mode needs`,
    );
  },
});
