import { expect, test } from 'vitest';
import { environmentOf } from './environment.ts';

const own = { home: '/run/home', config: '/run/config', temp: '/run/tmp', cwd: '/work' };
const given = (worker: Record<string, string | undefined>, inheritEnv: readonly string[] | false = [], env = {}) =>
  environmentOf({ worker, inheritEnv, env, own });

test.each<[row: string, names: string[]]>([
  ['system', ['PATH', 'USER', 'SHELL']],
  ['locale', ['LANG', 'LC_ALL', 'LC_CTYPE', 'LC_TIME']],
  ['terminal', ['TERM', 'COLORTERM', 'FORCE_COLOR']],
  ['Node.js', ['NODE_ENV']],
  ['Claude', ['CLAUDE_CODE_PATH', 'CLAUDE_TIMEOUT', 'MAX_CONCURRENT_CLAUDE', 'CLAUDE_SKIP_PERMISSIONS']],
  ['application', ['S3_BUCKET', 'DELETE_FILES_AFTER_UPLOAD', 'EVENTBRIDGE_BUS_NAME', 'TENANT_ID', 'APP_NAME']],
  ['definitions', ['TASK_DEFINITIONS_TABLE']],
])('004 §1: the row %s of the table of allowed variables is passed on', (_, names) => {
  const worker = Object.fromEntries(names.map((name) => [name, `of the worker: ${name}`]));
  expect(given(worker)).toMatchObject(worker);
});

test('HOME, CLAUDE_CONFIG_DIR, TMPDIR and PWD are those of the run, unless the task names or sets them', () => {
  const worker = { HOME: '/root', CLAUDE_CONFIG_DIR: '/root/.claude', TMPDIR: '/tmp', PWD: '/' };
  const places = { HOME: '/run/home', CLAUDE_CONFIG_DIR: '/run/config', TMPDIR: '/run/tmp', PWD: '/work' };
  expect(given(worker)).toMatchObject(places);
  expect(given(worker, ['HOME'], { TMPDIR: '/own' })).toMatchObject({ ...places, HOME: '/root', TMPDIR: '/own' });
});

test('nothing else is passed on: not the row AWS, no secret, and nothing that changes how programs start', () => {
  const worker = Object.fromEntries(
    [
      ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_REGION', 'ANTHROPIC_API_KEY'],
      ...['CLAUDE_CODE_OAUTH_TOKEN', 'DATABASE_URL', 'WAYBILL_KEY', 'WAYBILL_STORE', 'GITHUB_TOKEN', 'PGPASSWORD'],
      ...['NODE_OPTIONS', 'NODE_PATH', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'BASH_ENV', 'ENV', 'LCX', 'TERMINFO'],
    ].map((name) => [name, 'planted']),
  );
  expect(Object.keys(given({ ...worker, PATH: '/bin' }))).toEqual([
    ...['HOME', 'CLAUDE_CONFIG_DIR', 'TMPDIR', 'PWD', 'PATH'],
  ]);
});

test('names with a star are passed on, false passes on nothing, and what is set wins', () => {
  const worker = { CRM_URL: 'u', CRM_USER: 'v', PATH: '/bin', LANG: 'C' };
  expect(given(worker, ['CRM_*'], { CRM_USER: 'own' })).toMatchObject({ CRM_URL: 'u', CRM_USER: 'own' });
  const none = given(worker, false, { ONE: '1' });
  expect(Object.keys(none).sort()).toEqual(['CLAUDE_CONFIG_DIR', 'HOME', 'ONE', 'PATH', 'PWD', 'TMPDIR']);
  // Or no program would be found.
  expect(none['PATH']).toContain('/usr/bin');
});
