export * as health from './gen/grpc/health/v1/health_pb.ts';
export * as reflection from './gen/grpc/reflection/v1/reflection_pb.ts';
export * as reflectionAlpha from './gen/grpc/reflection/v1alpha/reflection_pb.ts';
export * from './gen/waybill/v1/error_pb.ts';
export * from './gen/waybill/v1/job_events_service_pb.ts';
export * from './gen/waybill/v1/job_pb.ts';
export * from './gen/waybill/v1/job_service_pb.ts';
export * from './gen/waybill/v1/log_service_pb.ts';
export * from './gen/waybill/v1/worker_service_pb.ts';
