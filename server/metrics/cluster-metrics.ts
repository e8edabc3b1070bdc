/** Metrics of several worker processes at one address. */
import { AggregatorRegistry, type Registry } from 'prom-client'
import { serveMetrics } from './metrics.ts'

/** Lets the supervisor of this worker process read its metrics. */
export function shareMetrics(registry: Registry): void {
  AggregatorRegistry.setRegistries([registry])
  new AggregatorRegistry()
}

/** Serves the metrics of all workers; undefined if the port is taken. */
export function serveClusterMetrics(address: { readonly host: string; readonly port: number }) {
  const registry = new AggregatorRegistry()
  const { contentType } = registry
  return serveMetrics({ contentType, metrics: () => registry.clusterMetrics() }, address)
}
