import { fill } from '../filling.ts';
import { historyBy } from '../workloads/history.ts';
import { copyOfTemplate } from './databases.ts';

/** The first round makes a system's history, the others copy it. */
export const copiedHistory = historyBy((task, system, filling) =>
  copyOfTemplate(task.store, `${system}_${filling.scheduled}`, () => fill(task, system, filling)),
);
