import { expect, test } from 'vitest';
import { connect } from '../sdk/connect.ts';
import { shownAddress } from './shown-address.ts';

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
  [undefined, 'The address is undefined.', 'sqlite:./waybill.db'],
  [null, 'The address is null.', 'environment variable'],
  ['', 'The address is empty.', 'environment variable'],
  [7, 'must be a string, not a value of type number', 'sqlite:'],
  ['waybill.db', "it has no scheme. Did you leave out 'sqlite:'?", 'sqlite:'],
  ['localhost:8080', "it has no scheme. Did you leave out 'http://'?", 'http://localhost:8080'],
  ['u:123/s3cret@h/db', 'The address cannot be used: it has no scheme.', 'postgres://user'],
  ['postgers://u:s3cret@h/db', "'postgers:' is none of sqlite, postgres,", 'postgres://user'],
  ['postgers://u:s3cret@h/db', "Did you mean 'postgres:'?", 'postgres://user'],
  ['u:s3cret@h/db', 'it has no scheme', 'sqlite:./waybill.db'],
  ['redis://:s3cret@h', "'redis:' is none of", 'sqlite:./waybill.db'],
  ['sqlite:', 'it names no file', 'sqlite:./waybill.db'],
  ['sqlite:./x.db?durabilty=normal', "parameter 'durabilty'. Did you mean 'durability'?", 'sqlite:'],
  ['sqlite:./x.db?durability=s3cret', "'durability' must be full or normal.", 'sqlite:'],
  ['postgres://u:s3cret@h/db?schem=x', "parameter 'schem'. Did you mean 'schema'?", 'postgres://user'],
  ['postgres://u@h/db?schema=s3cret!', "'schema' must be a plain lower-case name", 'postgres://user'],
  ['postgres://u:s3cret@h/db?pool=0', "'pool' must be a number of connections from 1 to 1000.", 'postgres://user'],
  ['postgres://u:s3cret@h/db?pool=3&pool=4', "'pool' more than once", 'postgres://user'],
  ['postgres://u:s3cret@h:99999/db', 'from 1 to 65535, not 99999', 'postgres://user'],
  ['postgres://u:s3cret@h:none/db', 'it is not a valid URL', 'postgres://user'],
  ['postgres:u:s3cret@h/db', 'must be followed by two slashes', 'postgres://user'],
  ['postgres://u:s3cret/half@h/db', 'Percent-encode', 'postgres://user'],
  ['postgres://u:123/s3cret@h/db', 'Percent-encode', 'postgres://user'],
  ['postgres://u:1?s3cret@h/db=2', 'it has an unknown parameter. Percent-encode', 'postgres://user'],
  ['postgres://u@h/db?listen_url=http://u:s3cret@h', "'listen_url' must be", 'postgres://user'],
  ['postgres://u@h/db?listen_url=postgres://u:s3cret/@h', "'listen_url' must be", 'postgres://user'],
  ['dynamodb://eu-west-1', 'must name a table', 'dynamodb://eu-west-1/jobs'],
  ['dynamodb://r/t?shards=2', "parameter 'shards'. It takes endpoint or ready.", 'dynamodb://eu-west-1/jobs'],
  ['dynamodb://r/t?endpoint=localhost', "'endpoint' must be", 'dynamodb://eu-west-1/jobs'],
  ['dynamodb://r/t?endpoint=ftp://u:s3cret@h', "'endpoint' must be", 'dynamodb://eu-west-1/jobs'],
  ['dynamodb://r/t?endpoint=http://u:s3cret@h', 'without user, password', 'dynamodb://eu-west-1/jobs'],
  ['http://u:s3cret@h:8080', "in the option 'headers'", 'http://localhost:8080'],
  ['http://u:123/s3cret@h', "in the option 'headers'", 'http://localhost:8080'],
  ['http://h:8080?schema=x', "parameter 'schema'. It takes none.", 'http://localhost:8080'],
  ['http://h:8080?token=s3cret', "parameter 'token'. It takes none.", 'http://localhost:8080'],
  ['http://h:70000', 'from 1 to 65535, not 70000', 'http://localhost:8080'],
  ['grpc://h', 'it names no port', 'grpc://localhost:9090'],
  ['grpc:h:1', 'must be followed by two slashes', 'grpc://localhost:9090'],
  ['grpc://u:s3cret@h:1', "in the option 'headers'", 'grpc://localhost:9090'],
  ['grpc://h:1/x', 'it has a path', 'grpc://localhost:9090'],
  ['grpc://h:1?token=s3cret', "parameter 'token'. It takes none.", 'grpc://localhost:9090'],
  ['grpcs://h:70000', 'from 1 to 65535, not 70000', 'like grpcs://jobs.example.com.'],
  ['https://h:70000', 'from 1 to 65535, not 70000', 'like https://jobs.example.com.'],
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
  [{ transport: 'sqs://r/p?endpoint=http://u:s3cret@h' }, "'endpoint'"],
  [{ transport: 7 }, "The option 'transport' must be a string."],
  [{ blobs: 's3://b?endpoint=localhost' }, "'endpoint'"],
  [{ blobs: 'fil:./x' }, "Did you mean 'file'?"],
  [{ blobs: 's3://b?regio=x' }, "Did you mean 'region'?"],
  [{ blobs: 'file:./x?threshold=s3cret' }, "'threshold' must be a whole number of bytes"],
])('D3: connect with %j is refused', async (options, why) => {
  expect((await refusal('sqlite::memory:', options)).message).toContain(why);
});

test.each([
  ['postgres://u:s3cret@h:5432/db', 'postgres://h:5432/db'],
  ['postgres://u:s3/c@re?t@h/db', 'postgres:***'],
  ['postgres://u:12/s3cret@h/db', 'postgres:***'],
  ['postgres://u@h/db?pasword=s3cret&sslmode=x', 'postgres://h/db?pasword=***&sslmode=***'],
  ['postgres://u@h/db?s3cret', 'postgres://h/db?***'],
  ['postgres://u:p@h/db?listen_url=postgres://u:p@direct/db', 'postgres:***'],
  ['postgres://u:p@h/db#s3cret', 'postgres://h/db'],
  ['u:s3cret@h/db', ''],
  ['postgers://u:s3cret@h/db', 'postgers://h/db'],
  ['postgres:u:s3cret@h/db', 'postgres:***'],
  ['https://token@h/x', 'https://h/x'],
  ['http://[::1]:8080', 'http://[::1]:8080'],
  ['grpc://u:s3cret@h:9090', 'grpc://h:9090'],
  ['grpc:u:s3cret@h', 'grpc:***'],
  ['sqlite:./a@b.db', 'sqlite:./a@b.db'],
  ['sqlite://u:s3cret@h/db', 'sqlite:***'],
  ['file:./blobs?threshold=100', 'file:./blobs?threshold=***'],
])('D3: of %s a message shows %s', (address, shown) => {
  expect(shownAddress(address)).toBe(shown);
});

test('D3: a server that cannot be reached is named', async () => {
  const waybill = await connect('http://127.0.0.1:1');
  await expect(waybill.jobs.cancel('0190f000-0000-7000-8000-000000000000')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('The server http://127.0.0.1:1 could not be reached'),
  });
  await waybill.close();
});
