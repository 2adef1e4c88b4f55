import { loadOptional } from '@waybill/core';

const NEEDS = 'Telemetry needs';
const HINT =
  'npm install @opentelemetry/sdk-trace @opentelemetry/sdk-metrics @opentelemetry/resources @opentelemetry/context-async-hooks @opentelemetry/exporter-prometheus @opentelemetry/exporter-trace-otlp-http @opentelemetry/exporter-metrics-otlp-http';

/** Loaded only when telemetry was asked for, as everything here. */
export const loadResources = (): Promise<typeof import('@opentelemetry/resources')> =>
  loadOptional(
    { name: '@opentelemetry/resources', needs: NEEDS, hint: HINT },
    () => import('@opentelemetry/resources'),
  );

export const loadContextManager = () =>
  loadOptional(
    { name: '@opentelemetry/context-async-hooks', needs: NEEDS, hint: HINT },
    () => import('@opentelemetry/context-async-hooks'),
  );

export const loadTraceSdk = () =>
  loadOptional(
    { name: '@opentelemetry/sdk-trace', needs: NEEDS, hint: HINT },
    () => import('@opentelemetry/sdk-trace'),
  );

export const loadMetricSdk = () =>
  loadOptional(
    { name: '@opentelemetry/sdk-metrics', needs: NEEDS, hint: HINT },
    () => import('@opentelemetry/sdk-metrics'),
  );

export const loadTraceExporter = () =>
  loadOptional(
    { name: '@opentelemetry/exporter-trace-otlp-http', needs: 'Sending traces needs' },
    () => import('@opentelemetry/exporter-trace-otlp-http'),
  );

export const loadMetricExporter = () =>
  loadOptional(
    { name: '@opentelemetry/exporter-metrics-otlp-http', needs: 'Sending metrics needs' },
    () => import('@opentelemetry/exporter-metrics-otlp-http'),
  );

export const loadPrometheus = () =>
  loadOptional(
    { name: '@opentelemetry/exporter-prometheus', needs: 'The metrics at /metrics need' },
    () => import('@opentelemetry/exporter-prometheus'),
  );
