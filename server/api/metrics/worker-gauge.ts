/** The supervisor's own metric: whether each worker answers. */
import { Gauge, type Registry } from 'prom-client'

export function addWorkerGauge(registry: Registry): Gauge<'worker'> {
  return new Gauge({
    name: 'tributary_worker_up',
    help: 'With WORKERS above 1: 1 if the worker answered this scrape, else 0.',
    labelNames: ['worker'],
    registers: [registry],
  })
}
