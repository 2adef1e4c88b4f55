import { answer } from '../http/answer.ts';
import type { App } from '../http/env.ts';
import type { Surface } from '../surface.ts';

export function queueRoutes(app: App, { waybill }: Surface): void {
  app.get('/ojs/v1/queues', async (c) => {
    const queues = await waybill.queues.list();
    return answer(c, {
      queues: queues.map(({ name, paused }) => ({ name, status: paused ? 'paused' : 'active', paused })),
    });
  });
}
