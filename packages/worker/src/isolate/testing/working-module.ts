// A module that starts a worker when it is loaded, which a module of isolated tasks must not do.
import { task, Worker } from '../../index.ts';

export const none = task('isolate.none', { run: () => null });
new Worker({ jobs: {} as never, tasks: [none] }).start();
