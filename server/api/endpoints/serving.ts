/** Compares endpoints with models: a model serves what an upstream of its routes implements. */
import type { Model } from '../../money/catalog/catalog.ts'
import type { Upstream } from '../../wire/upstreams/upstream.ts'
import type { RequestMetering } from '../../work/pipeline/metering.ts'
import type { Endpoint, PlainServices } from './endpoint.ts'

/** Returns true if an upstream of the model's routes has the operation of the endpoint. */
export function isServed(
  endpoint: Endpoint,
  model: Model,
  { catalog, upstreams }: Pick<PlainServices, 'catalog' | 'upstreams'>,
): boolean {
  if (!meteringOf(endpoint)?.modelTypes.includes(model.type)) return false
  const { channels } = catalog.snapshot()
  return model.routes.some(({ channel }) => {
    const upstream = upstreams.get(channels.get(channel)?.upstream ?? '')
    return upstream !== undefined && canServe(upstream, endpoint)
  })
}

/** Returns how the requests of an endpoint are read; undefined for one without a model. */
export function meteringOf(endpoint: Endpoint): RequestMetering | undefined {
  if (endpoint.kind === 'metered') return endpoint.metering
  return endpoint.kind === 'task' ? endpoint.submission : undefined
}

function canServe({ calls, tasks }: Upstream, endpoint: Endpoint): boolean {
  if (endpoint.kind === 'metered') return calls[endpoint.metering.operation] !== undefined
  if (endpoint.kind !== 'task') return false
  const { kind, call } = endpoint.submission
  return (call ? calls[call.metering.operation] : tasks?.[kind]) !== undefined
}

/**
 * Replaces `:id` and `*` by `{id}`; the wildcard is for ids that may contain slashes. A double
 * colon is one of the path.
 */
export function toTemplate(path: string): string {
  const [own = '', method] = path.split('(^.+)::')
  const template = own.replace(/:(\w+)/g, '{$1}').replace('*', '{id}')
  return method === undefined ? template : `${template}:${method}`
}
