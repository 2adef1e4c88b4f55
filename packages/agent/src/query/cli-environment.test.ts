import { expect, test } from 'vitest';
import { cliEnvironment } from './cli-environment.ts';

const folders = { HOME: '/run/home', CLAUDE_CONFIG_DIR: '/run/config', TMPDIR: '/run/tmp' };

test('the CLI gets what it needs and what the task names, and nothing else', () => {
  const worker = {
    ...{ PATH: '/bin', LANG: 'C', LC_ALL: 'C', NODE_ENV: 'test', WAYBILL_RUN: 'mark', HOME: '/home/ada' },
    ...{ ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: 'http://model', CLAUDE_CODE_OAUTH_TOKEN: 'token' },
    ...{ CLAUDE_MODEL: 'ours', DEFAULT_TIMEOUT: '1' },
    ...{ AWS_SECRET_ACCESS_KEY: 'no', AWS_ACCESS_KEY_ID: 'no', DATABASE_URL: 'no', GITHUB_TOKEN: 'no' },
    ...{ NODE_OPTIONS: 'no', LD_PRELOAD: 'no', WAYBILL_KEY: 'no', S3_BUCKET: 'no', CRM_URL: 'yes', CRM_USER: 'yes' },
  };
  const env = cliEnvironment({ worker, inherit: ['CRM_*'], own: { GIVEN: '1' }, folders });
  expect(env).toMatchObject({
    PATH: '/bin',
    LANG: 'C',
    LC_ALL: 'C',
    NODE_ENV: 'test',
    WAYBILL_RUN: 'mark',
    ...folders,
  });
  expect(env).toMatchObject({ ANTHROPIC_API_KEY: 'key', CLAUDE_CODE_OAUTH_TOKEN: 'token' });
  expect(env).toMatchObject({ CRM_URL: 'yes', CRM_USER: 'yes', GIVEN: '1' });
  expect(Object.values(env)).not.toContain('no');
  expect(Object.keys(env)).not.toContain('CLAUDE_MODEL');
});

test('the variables of the task win, except for those that keep the CLI quiet', () => {
  const own = { ANTHROPIC_API_KEY: 'own', CLAUDE_CODE_MAX_RETRIES: '5', DISABLE_TELEMETRY: '0' };
  const env = cliEnvironment({ worker: { ANTHROPIC_API_KEY: 'key' }, own, folders });
  expect(env).toMatchObject({ ANTHROPIC_API_KEY: 'own', CLAUDE_CODE_MAX_RETRIES: '5', DISABLE_TELEMETRY: '1' });
});
