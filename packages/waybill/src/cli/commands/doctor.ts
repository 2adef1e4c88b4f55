import { type Check, checkNode, checkStore } from '../checks/index.ts';
import { command } from '../command.ts';

const RANK = ['ok', 'warn', 'fail'] as const;

export const doctor = command({
  name: 'doctor',
  section: 'Care',
  summary: 'look for what could go wrong; exit 1 when something has',
  run: async (_, context) => {
    const checks: Check[] = [checkNode(process.versions.node), ...(await checkStore(context))];
    const status = RANK[Math.max(...checks.map((check) => RANK.indexOf(check.status)))]!;
    const width = Math.max(...checks.map(({ name }) => name.length));
    context.show({ status, checks }, () =>
      checks
        .map(({ status: its, name, message, hint }) => {
          const line = `${context.style.state(its.padEnd(4))}  ${name.padEnd(width)}  ${message}\n`;
          return hint === undefined ? line : `${line}      ${' '.repeat(width)}  ${hint}\n`;
        })
        .join(''),
    );
    return status === 'fail' ? 1 : 0;
  },
});
