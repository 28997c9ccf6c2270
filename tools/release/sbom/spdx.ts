/** What of SPDX 2.3 (spdx.github.io/spdx-spec/v2.3) Fairlead writes, in its JSON form. */
export interface SpdxDocument {
  readonly spdxVersion: 'SPDX-2.3';
  readonly dataLicense: 'CC0-1.0';
  readonly SPDXID: 'SPDXRef-DOCUMENT';
  readonly name: string;
  readonly documentNamespace: string;
  readonly creationInfo: { readonly created: string; readonly creators: readonly string[] };
  readonly packages: readonly SpdxPackage[];
  readonly files: readonly SpdxFile[];
  readonly relationships: readonly Relationship[];
}

export interface SpdxPackage {
  readonly SPDXID: string;
  readonly name: string;
  readonly versionInfo: string;
  readonly supplier: string;
  readonly downloadLocation: string;
  readonly filesAnalyzed: boolean;
  readonly packageVerificationCode?: { readonly packageVerificationCodeValue: string };
  readonly checksums?: readonly Checksum[];
  readonly licenseConcluded: string;
  readonly licenseDeclared: string;
  readonly licenseInfoFromFiles?: readonly string[];
  readonly licenseComments?: string;
  readonly copyrightText: string;
  readonly comment?: string;
  readonly primaryPackagePurpose?: 'CONTAINER' | 'APPLICATION' | 'LIBRARY';
  readonly externalRefs?: readonly ExternalRef[];
}

export interface SpdxFile {
  readonly SPDXID: string;
  readonly fileName: string;
  readonly checksums: readonly Checksum[];
  readonly licenseConcluded: string;
  readonly licenseInfoInFiles: readonly string[];
  readonly copyrightText: string;
}

export interface Checksum {
  readonly algorithm: 'SHA1' | 'SHA256' | 'SHA512';
  readonly checksumValue: string;
}

export interface ExternalRef {
  readonly referenceCategory: 'PACKAGE-MANAGER' | 'SECURITY';
  readonly referenceType: 'purl' | 'cpe23Type';
  readonly referenceLocator: string;
}

export interface Relationship {
  readonly spdxElementId: string;
  readonly relationshipType: RelationshipType;
  readonly relatedSpdxElement: string;
}

export type RelationshipType =
  | 'DESCRIBES'
  | 'CONTAINS'
  | 'STATIC_LINK'
  | 'DYNAMIC_LINK'
  | 'BUILD_TOOL_OF';

export const UNKNOWN = 'NOASSERTION';

/** An identifier of a package or file: letters, digits, dots and hyphens are allowed. */
export function spdxId(kind: 'Package' | 'File', name: string): string {
  const plain = name
    .replaceAll(/[ /]/g, '-')
    .replaceAll(/[^A-Za-z0-9.-]/g, (char) => `.${char.charCodeAt(0).toString(16)}.`);
  return `SPDXRef-${kind}-${plain}`;
}
