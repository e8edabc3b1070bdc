/** Routes requests to the endpoints that this process offers. */
import type { Config } from '../config/config.ts'
import { createConsoleEndpoints } from '../console/serve.ts'
import { isUnavailable } from '../database/unavailable.ts'
import type { Endpoint, PlainServices } from '../endpoints/endpoint.ts'
import { runEndpoint } from '../endpoints/run-endpoint.ts'
import { receiveVendorCallback } from '../endpoints/service/vendor-callback.ts'
import { createListener } from '../http/listener.ts'
import { createRoutes } from '../http/router.ts'
import { GatewayError } from '../lib/errors.ts'
import type { Tracer } from '../tracing/tracer.ts'
import { recordRequest } from './access-log.ts'

function isOfWorkers(kind: Endpoint['kind'], documentation: Endpoint['documentation']): boolean {
  return kind === 'plain' && documentation.credential === undefined
}

/** Whatever was asked: without a database the answer is later, not an error of the gateway's. */
function convertUnavailable(error: unknown): never {
  if (error instanceof GatewayError || !isUnavailable(error)) throw error
  throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause: error })
}

/** A process that only works answers nothing but its health. */
export function createGatewayListener(
  services: PlainServices,
  { role, publicUrl }: Config,
  tracer: Tracer | undefined,
) {
  const documented = services
    .endpoints()
    .filter(({ kind, documentation }) => role !== 'worker' || isOfWorkers(kind, documentation))
  // Pages for people and addresses for vendors stand in no reference.
  const undocumented = [...createConsoleEndpoints({ publicUrl }), receiveVendorCallback]
  const offered: readonly Endpoint[] =
    role === 'worker' ? documented : [...documented, ...undocumented]
  const match = createRoutes<Endpoint>(
    offered.flatMap((endpoint) =>
      endpoint.paths.map((path) => ({ method: endpoint.method, path, target: endpoint })),
    ),
  )
  return createListener<Endpoint>({
    match,
    envelopeOf: (endpoint) => endpoint.envelope,
    run: (endpoint, context) => runEndpoint(endpoint, context, services).catch(convertUnavailable),
    onDone(context, error) {
      recordRequest(context, error, services)
      tracer?.note(context)
    },
  })
}
