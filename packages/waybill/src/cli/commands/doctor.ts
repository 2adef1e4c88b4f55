import { withoutSecrets } from '@waybill/core';
import { isRemote } from '../../connect/parse-address.ts';
import { type Check, checkNode, checkStore, checkTasks, checkTransport, checkWebhooks } from '../checks/index.ts';
import { command } from '../command.ts';
import { transportIn } from '../context.ts';
import { TRANSPORT } from '../serve-options.ts';
import { wrapped } from '../text-width.ts';

const RANK = ['ok', 'warn', 'fail'] as const;

export const doctor = command({
  name: 'doctor',
  section: 'Care',
  summary: 'look for what could go wrong; exit 1 when something has',
  takesTenant: false,
  options: { transport: TRANSPORT },
  run: async ({ values }, context) => {
    const transport = values.transport ?? transportIn(context.io.env);
    const store = await checkStore(context, transport);
    const carried = isRemote(context.store) ? [] : await checkTransport(context, transport, store);
    const tasks = await checkTasks(context, store);
    const webhooks = await checkWebhooks(context, store);
    const found: Check[] = [checkNode(process.versions.node), ...store, ...carried, ...tasks, ...webhooks];
    const checks = found.map((check) => ({ ...check, message: withoutSecrets(check.message) }));
    const status = RANK[Math.max(...checks.map((check) => RANK.indexOf(check.status)))]!;
    const width = Math.max(...checks.map(({ name }) => name.length));
    context.show({ status, checks }, () =>
      checks
        .map(({ status: its, name, message, hint }) => {
          const indent = ' '.repeat(width + 8);
          const [first, ...rest] = [message, ...(hint === undefined ? [] : [hint])].flatMap((text) =>
            wrapped(text, context.width - indent.length),
          );
          const line = `${context.style.state(its.padEnd(4))}  ${name.padEnd(width)}  ${first}\n`;
          return line + rest.map((text) => `${indent}${text}\n`).join('');
        })
        .join(''),
    );
    return status === 'fail' ? 1 : 0;
  },
});
