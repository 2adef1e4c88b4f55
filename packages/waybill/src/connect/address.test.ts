import { expect, test } from 'vitest';
import { connect } from '../sdk/connect.ts';
import { withoutSecrets } from './address.ts';

/** Whatever is shown of it; the password is always the same. */
const SECRET = 's3cret';

async function refusal(address: unknown, options?: object): Promise<{ code: string; message: string; hint?: string }> {
  const error = await connect(address as string, options).then(
    async (waybill) => {
      await waybill.close();
      throw new Error(`The address was taken: ${String(address)}`);
    },
    (reason: unknown) => reason as { code: string; message: string; hint?: string },
  );
  expect(error).toMatchObject({ name: 'WaybillError', code: 'invalid_request' });
  expect(JSON.stringify([error.message, error.hint, String(error)])).not.toContain(SECRET);
  return error;
}

test.each<[unknown, string, string]>([
  [undefined, 'this is undefined', 'sqlite:./waybill.db'],
  [null, 'this is null', 'environment variable'],
  ['', 'an empty text', 'environment variable'],
  [7, 'this is number', 'sqlite:'],
  ['waybill.db', "no scheme. Did you mean 'sqlite:waybill.db'?", 'sqlite:'],
  ['localhost:8080', "Did you mean 'http://localhost:8080'?", 'http://localhost:8080'],
  ['postgers://u:s3cret@h/db', "'postgers:' is none of sqlite, postgres,", 'postgres://user'],
  ['postgers://u:s3cret@h/db', "Did you mean 'postgres:'?", 'postgres://user'],
  ['u:s3cret@h/db', "'u:' is none of", 'sqlite:./waybill.db'],
  ['redis://:s3cret@h', "'redis:' is none of", 'sqlite:./waybill.db'],
  ['sqlite:', 'it names no file', 'sqlite:./waybill.db'],
  ['sqlite:./x.db?durabilty=normal', "'durabilty', which is unknown. Did you mean 'durability'?", 'sqlite:'],
  ['sqlite:./x.db?durability=some', "must be full or normal, not 'some'", 'sqlite:'],
  ['postgres://u:s3cret@h/db?schem=x', "'schem', which is unknown. Did you mean 'schema'?", 'postgres://user'],
  ['postgres://u:s3cret@h/db?pool=0', "from 1 to 1000, not '0'", 'postgres://user'],
  ['postgres://u:s3cret@h/db?pool=3&pool=4', "'pool' more than once", 'postgres://user'],
  ['postgres://u:s3cret@h:99999/db', 'from 1 to 65535, not 99999', 'postgres://user'],
  ['postgres://u:s3cret@h:none/db', 'it is no URL', 'postgres://user'],
  ['postgres:u:s3cret@h/db', 'two slashes', 'postgres://user'],
  ['postgres://u:s3cret/half@h/db', 'percent-encoded', 'postgres://user'],
  ['postgres://u:1?s3cret@h/db=2', 'a parameter, which is unknown', 'postgres://user'],
  ['postgres://u@h/db?listen_url=http://u:s3cret@h', "'listen_url' must be", 'postgres://user'],
  ['dynamodb://eu-west-1', 'must name a table', 'dynamodb://eu-west-1/jobs'],
  ['dynamodb://r/t?shards=2', "'shards', which is unknown. It takes endpoint or ready.", 'dynamodb://eu-west-1/jobs'],
  ['dynamodb://r/t?endpoint=localhost', "'endpoint' must be", 'dynamodb://eu-west-1/jobs'],
  ['http://u:s3cret@h:8080', "in the option 'headers'", 'http://localhost:8080'],
  ['http://h:8080?schema=x', "'schema', which is unknown. It takes none.", 'http://localhost:8080'],
  ['http://h:70000', 'from 1 to 65535, not 70000', 'http://localhost:8080'],
])('D3: connect(%j) is refused: %s', async (address, why, example) => {
  const { message, hint } = await refusal(address);
  expect(message).toContain(why);
  expect(hint).toContain(example);
});

test.each<[object, string]>([
  [{ loger: console }, "no option 'loger'. Did you mean 'logger'?"],
  [{ logger: {} }, "'logger' has no method 'debug'"],
  [{ transport: 'sqss://r/p' }, "Unknown transport 'sqss://r/p'. Did you mean 'sqs'?"],
  [{ transport: 'sqs://r/p?endpont=x' }, "Did you mean 'endpoint'?"],
  [{ blobs: 'fil:./x' }, "Did you mean 'file'?"],
  [{ blobs: 's3://b?regio=x' }, "Did you mean 'region'?"],
  [{ blobs: 'file:./x?threshold=much' }, "not 'much'"],
])('D3: connect with %j is refused', async (options, why) => {
  expect((await refusal('sqlite::memory:', options)).message).toContain(why);
});

test.each([
  ['postgres://u:s3cret@h:5432/db', 'postgres://u:***@h:5432/db'],
  ['postgres://u:s3/c@re?t@h/db', 'postgres://u:***@h/db'],
  ['postgres://u@h/db?password=s3cret&sslmode=x', 'postgres://u@h/db?password=***&sslmode=x'],
  ['postgres://u:p@h/db?listen_url=postgres://u:p@direct/db', 'postgres://u:***@h/db?listen_url=***'],
  ['u:s3cret@h/db', 'u:***@h/db'],
  ['postgers://u:s3cret@h/db', 'postgers:***@h/db'],
  ['postgres:u:s3cret@h/db', 'postgres:u:***@h/db'],
  ['https://u:p@h/x', 'https://***@h/x'],
  ['https://token@h/x', 'https://***@h/x'],
  ['sqlite:./a@b.db', 'sqlite:./a@b.db'],
  ['http://localhost:8080', 'http://localhost:8080'],
])('D3: of %s a message shows %s', (address, shown) => {
  expect(withoutSecrets(address)).toBe(shown);
});

test('D3: a server that cannot be reached is named', async () => {
  const waybill = await connect('http://127.0.0.1:1');
  await expect(waybill.jobs.cancel('0190f000-0000-7000-8000-000000000000')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('The server http://127.0.0.1:1 could not be reached'),
  });
  await waybill.close();
});
