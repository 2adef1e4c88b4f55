import { expect, test } from 'vitest';
import { envWith, valuesWith } from './apply-config.ts';
import { configOf } from './testing/config-folder.ts';

const FLAGS = { keys: {}, queues: {}, bounds: {}, 'no-auth': {}, auth: {}, grace: {} };

test('the environment beats the file, and an empty variable counts as not set', async () => {
  const config = await configOf('{ store: "sqlite:a", server: { port: 1, host: a } }');
  expect(envWith(config, { WAYBILL_PORT: '2', WAYBILL_HOST: '', OTHER: '' })).toEqual({
    ...{ WAYBILL_STORE: 'sqlite:a', WAYBILL_PORT: '2', WAYBILL_HOST: 'a', OTHER: '' },
  });
});

test('a flag beats the file, and a flag of another command is not given to this one', async () => {
  const config = await configOf('{ worker: { grace: 5s, concurrency: 3 }, server: { requireLease: true } }');
  expect(valuesWith(config, {}, FLAGS, {})).toEqual({ grace: '5000ms' });
  expect(valuesWith(config, { grace: '1s' }, FLAGS, {})).toEqual({ grace: '1s' });
});

test('bounds of the file are about the queues of the file', async () => {
  const config = await configOf('worker: { queues: [mail, bulk], bounds: { bulk: 1 } }');
  expect(valuesWith(config, {}, FLAGS, {})).toEqual({ queues: 'mail,bulk', bounds: 'bulk=1' });
  expect(valuesWith(config, { queues: 'mail' }, FLAGS, {})).toEqual({ queues: 'mail' });
});

test('what the file says of keys yields to whoever says something else about them', async () => {
  const open = await configOf('server: { noAuth: true }');
  expect(valuesWith(open, {}, FLAGS, {})).toEqual({ 'no-auth': true });
  expect(valuesWith(open, { auth: true }, FLAGS, {})).toEqual({ auth: true });
  expect(valuesWith(open, {}, FLAGS, { WAYBILL_AUTH: '1' })).toEqual({});
  const keyed = await configOf('server: { keysFile: keys.txt }');
  expect(valuesWith(keyed, {}, FLAGS, {})).toEqual({ keys: 'keys.txt' });
  expect(valuesWith(keyed, {}, FLAGS, { WAYBILL_KEYS: 'k' })).toEqual({});
  expect(valuesWith(keyed, { 'no-auth': true }, FLAGS, {})).toEqual({ 'no-auth': true });
});
