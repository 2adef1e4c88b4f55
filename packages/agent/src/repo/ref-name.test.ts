import { expect, test } from 'vitest';
import { branchOfJob, isCommitId, problemOfRefName } from './ref-name.ts';

test('names that git accepts pass', () => {
  for (const name of ['main', 'fix/typo', 'v1.2.3', 'a-b_c', 'waybill/0190-x', 'feature#12', 'ü'])
    expect(problemOfRefName(name)).toBeNull();
});

test('a name that would be an option is refused', () => {
  expect(problemOfRefName('--upload-pack=touch x')).toContain("must not begin with '-'");
  expect(problemOfRefName('-d')).toContain("must not begin with '-'");
});

test('names that git would read as more than a name are refused', () => {
  const names = [
    '',
    'a b',
    'a:b',
    '+a:b',
    'a..b',
    'a~1',
    'a^',
    'HEAD@{1}',
    '@',
    'a\nb',
    'a\u0000',
    'x.lock',
    '.x',
    'a//b',
  ];
  for (const name of [...names, '/a', 'a/', 'a.', 'a/.b', '*', '[x', 'a\\b', 'x'.repeat(201), 7, null])
    expect(problemOfRefName(name), String(name)).not.toBeNull();
});

test('the branch of a job is a valid name, whatever its id', () => {
  for (const id of ['01900000-0000-7000-8000-000000000001', '../../x', 'a b:c', '..', '-x', 'x.lock', 'y'.repeat(400)])
    expect(problemOfRefName(branchOfJob(id)), id).toBeNull();
  expect(branchOfJob('job-1')).toBe('waybill/job-1');
});

test('ids of commits are told from names', () => {
  expect(isCommitId('a1b2c3d')).toBe(true);
  expect(isCommitId('main')).toBe(false);
});
