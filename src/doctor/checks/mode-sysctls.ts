import { check } from '../doctor-check.ts';
import { note, orOk } from '../finding.ts';
import { sysctlIfThere } from '../sysctl-if-there.ts';

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
  read: (subject) => {
    const used = subject.modes.find(({ name }) => name === subject.usedMode);
    const needed = (used?.sysctls ?? []).flatMap(({ name, value: wanted, otherwise }) => {
      const value = sysctlIfThere(subject, name);
      return value === undefined
        ? []
        : [{ name: name.replaceAll('/', '.'), wanted, value, otherwise }];
    });
    return { needed };
  },
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
