import { describe, expect, it } from '@jest/globals';
import { changelogProblems, isNewer, releasedVersions, releaseSection, unreleasedNotes } from './changelog.ts';

const changelog = `# Changelog

## [Unreleased]

### Added

- A thing.

## [1.2.0] - 2026-10-01

### Fixed

- Another.

## [1.1.0] - 2026-09-01
`;

describe('the changelog', () => {
  it('names the released versions, newest first', () => {
    expect(releasedVersions(changelog).map(({ version }) => version)).toEqual(['1.2.0', '1.1.0']);
  });

  it('makes what is not released the section of a version', () => {
    expect(unreleasedNotes(changelog)).toBe('### Added\n\n- A thing.');
    const next = releaseSection(changelog, { version: '1.3.0', date: '2026-11-23' });
    expect(next).toContain('## [Unreleased]\n\n## [1.3.0] - 2026-11-23\n\n### Added\n\n- A thing.\n\n## [1.2.0]');
    expect(releasedVersions(next)[0]).toEqual({ version: '1.3.0', date: '2026-11-23' });
    expect(unreleasedNotes(next)).toBe('');
  });

  it('is fit for a newer version only, with notes in the groups of Keep a Changelog', () => {
    expect(changelogProblems(changelog, '1.3.0')).toEqual([]);
    expect(changelogProblems(changelog, '1.2.0')).toEqual(['CHANGELOG.md: 1.2.0 is not newer than 1.2.0']);
    expect(changelogProblems(changelog.replace('### Added', '### News'), '1.3.0')).toEqual([
      expect.stringContaining('"### News" is none of Added'),
    ]);
    expect(changelogProblems(changelog.replace('- A', '### Added\n\n- A'), '1.3.0')).toEqual([
      expect.stringContaining('stands twice'),
    ]);
    expect(changelogProblems(changelog.replace('### Added\n\n- A thing.\n', ''), '1.3.0')).toEqual([
      expect.stringContaining('nothing stands below'),
    ]);
    expect(changelogProblems('# Changelog\n', '1.3.0')).toHaveLength(2);
  });

  it.each([
    ['1.10.0', '1.9.9', true],
    ['2.0.0', '1.9.9', true],
    ['1.2.3', '1.2.3', false],
    ['1.2.3', '1.3.0', false],
  ])('%s is newer than %s: %s', (version, than, expected) => {
    expect(isNewer(version, than)).toBe(expected);
  });
});
