import type { Waybill } from '@waybill/core';
import type { App } from '../http/env.ts';
import type { Surface } from '../surface.ts';
import { definitionRoutes } from './definition-routes.ts';
import { jobRoutes } from './job-routes.ts';
import { taskRoutes } from './task-routes.ts';

/** Where the server has them; alone they stand at the root. */
export const TASKS_PATH = '/tasks';

/** The producer API: jobs made of tasks, their review, and the definitions of tasks. */
export function producerRoutes(app: App, surface: Surface, waybill: Waybill, base: string): void {
  jobRoutes(app, surface, waybill, base);
  taskRoutes(app, surface, base);
  definitionRoutes(app, surface, waybill, base);
}
