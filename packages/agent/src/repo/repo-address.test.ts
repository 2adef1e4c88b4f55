import { expect, test } from 'vitest';
import { repoAddress } from './repo-address.ts';

const problem = (text: unknown): string | undefined => {
  const address = repoAddress(text, '/srv');
  return 'problem' in address ? address.problem : undefined;
};

test('https, ssh and file addresses and paths are taken', () => {
  expect(repoAddress('https://git.test/team/app.git', '/')).toEqual({
    url: 'https://git.test/team/app.git',
    protocol: 'https',
    name: 'app',
  });
  expect(repoAddress('git@git.test:team/app.git', '/')).toMatchObject({ protocol: 'ssh', name: 'app' });
  expect(repoAddress('ssh://git@git.test:2222/team/app', '/')).toMatchObject({ protocol: 'ssh', name: 'app' });
  expect(repoAddress('file:///srv/git/app.git', '/')).toMatchObject({
    url: 'file:///srv/git/app.git',
    protocol: 'file',
  });
  expect(repoAddress('../git/my app', '/srv/x')).toMatchObject({ url: 'file:///srv/git/my%20app', name: 'my_app' });
  expect(repoAddress('http://127.0.0.1:8080/app', '/')).toMatchObject({ protocol: 'http' });
});

test('what git would take for an option or run as a program is refused', () => {
  expect(problem('--upload-pack=touch /tmp/x')).toContain("must not begin with '-'");
  expect(problem('ext::sh -c "touch /tmp/x"')).toContain('must not name a transport');
  expect(problem('fd::17')).toContain('must not name a transport');
  expect(problem('ssh://-oProxyCommand=touch/app')).toBeDefined();
  expect(problem('-oProxyCommand=x:app')).toContain("must not begin with '-'");
  expect(problem('git@host:-app')).toContain("begins with '-'");
  expect(problem('ftp://host/app')).toContain("not 'ftp'");
  expect(problem('http://git.test/app')).toContain('https');
  expect(problem('https://git.test/app\n--x')).toContain('no line breaks');
  expect(problem('file://host/app')).toContain('no host');
  expect(problem(7)).toContain('must be an address');
});

test('an address with a secret in it is refused, and the secret is not told', () => {
  for (const text of [
    'https://me:pa55word@git.test/a',
    'https://pa55word@git.test/a',
    'ssh://git:pa55word@git.test/a',
  ]) {
    expect(problem(text)).toContain("'credentials'");
    expect(problem(text)).not.toContain('pa55word');
  }
});
