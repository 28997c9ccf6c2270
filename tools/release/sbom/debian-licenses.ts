import { ImageError } from '../../image/image-error.ts';

/**
 * The licence of the binaries in each Debian package that ships, as its copyright file says, which is
 * in the image beside them. Read by hand: half of these files are not machine-readable, and Debian's
 * short names are not those of SPDX.
 */
const LICENSES: Readonly<Record<string, string>> = {
  'base-files': 'GPL-2.0-or-later',
  iptables: 'GPL-2.0-only AND GPL-2.0-or-later',
  libc6: 'LGPL-2.1-or-later',
  'libgcc-s1': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  libip4tc2: 'GPL-2.0-only',
  libip6tc2: 'GPL-2.0-only',
  libmnl0: 'LGPL-2.1-or-later',
  'libnetfilter-conntrack3': 'GPL-2.0-or-later',
  libnfnetlink0: 'GPL-2.0-or-later',
  libnftnl11: 'GPL-2.0-or-later',
  'libstdc++6': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  libxtables12: 'GPL-2.0-only AND GPL-2.0-or-later',
};

export function debianLicense(name: string): string {
  const found = Object.hasOwn(LICENSES, name) ? LICENSES[name] : undefined;
  if (found !== undefined) return found;
  throw new ImageError(
    'RELEASE_LICENSE_UNKNOWN',
    `the licence of the Debian package ${name} is not known`,
    `read /usr/share/doc/${name}/copyright, and add it to tools/release/sbom/debian-licenses.ts`,
  );
}
