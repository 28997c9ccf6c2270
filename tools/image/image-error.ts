export type ImageErrorCode =
  | 'IMAGE_USAGE'
  | 'IMAGE_LIBRARY_MISSING'
  | 'IMAGE_IPTABLES_MISSING'
  | 'IMAGE_PACKAGE_MISSING'
  | 'IMAGE_PACKAGE_UNKNOWN'
  | 'IMAGE_NOT_ELF'
  | 'IMAGE_NOT_PINNED'
  | 'IMAGE_PINS_INVALID'
  | 'IMAGE_INSTALL'
  | 'IMAGE_DEBIAN'
  | 'IMAGE_PATH_TOO_LONG'
  | 'IMAGE_MACHINE'
  | 'RELEASE_NOTES_MISSING'
  | 'RELEASE_DATE_INVALID'
  | 'RELEASE_LICENSE_UNKNOWN'
  | 'RELEASE_GIT'
  | 'RELEASE_KUSTOMIZE'
  | 'RELEASE_AGAIN'
  | 'RELEASE_DIFFERS';

/** The image, or a release with it, could not be made. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
  readonly code: ImageErrorCode;
  readonly next: string;

  constructor(code: ImageErrorCode, message: string, next: string) {
    super(message);
    this.code = code;
    this.next = next;
  }
}
