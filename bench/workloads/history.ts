import { type Filling, fill } from '../filling.ts';
import { scaled, type Task } from '../result.ts';
import { SYSTEMS, type SystemName } from '../systems/index.ts';

const ROWS = 1_000_000;

/** A million rows of each kind beside, as far as the system keeps them; `make` puts them there. */
export const historyBy =
  (make: (task: Task, system: SystemName, filling: Filling) => Promise<void>) =>
  async (task: Task, system: SystemName): Promise<string> => {
    const scheduled = scaled(ROWS, task.scale);
    const finished = (await SYSTEMS[system]()).keepsFinished ? scheduled : 0;
    await make(task, system, { finished, scheduled });
    return `${finished} finished and ${scheduled} scheduled rows beside`;
  };

export const history = historyBy(fill);
