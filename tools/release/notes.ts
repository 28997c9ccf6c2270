import { ImageError } from '../image/image-error.ts';

/** What CHANGELOG.md says of a version, without its heading; links lead to files of that version. */
export function releaseNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.split('\n', 1)[0]?.trim() === version);
  const text = section?.slice(section.indexOf('\n') + 1).trim() ?? '';
  if (text !== '') return `${text}\n`;
  throw new ImageError(
    'RELEASE_NOTES_MISSING',
    `CHANGELOG.md says nothing of ${version}, which is the version in package.json`,
    `write a section '## ${version}'`,
  );
}
