// For programs that set the SDK up themselves, as the command does.

export {
  type LightTracerProviderOptions,
  lightTracerProvider,
  type SdkTracerProvider,
  type TraceSdk,
} from './light/light-tracer-provider.ts';
