import type { WaybillConfig } from './waybill-config.ts';

/**
 * The configuration of `waybill.config.ts`, as it is given: the compiler checks it, and nothing happens at run time. Where the file
 * exports a function, call it inside: `export default async () => defineConfig({ .. })`.
 */
export const defineConfig = (config: WaybillConfig): WaybillConfig => config;
