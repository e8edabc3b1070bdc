/** Figures of stored files: copies, conversions, faults, and the object store. */
import { Counter, Gauge, type Registry } from 'prom-client'

export function createFileMetrics(registry: Registry) {
  const registers = [registry]
  const copies = new Counter({
    name: 'tributary_copies_total',
    help: 'Attempts to copy results into storage, by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  const conversions = new Counter({
    name: 'tributary_conversions_total',
    help:
      'Conversions of recordings: converted, refused (the recording), retried, or failed (the ' +
      'gateway).',
    labelNames: ['outcome'],
    registers,
  })
  const faults = new Counter({
    name: 'tributary_content_faults_total',
    help: 'Reads that found a stored file lost, cut short or damaged.',
    labelNames: ['kind'],
    registers,
  })
  const store = new Gauge({
    name: 'tributary_object_store_up',
    help: '1 while the object store answers, else 0; absent without one.',
    aggregator: 'min',
    registers,
  })
  // Absent until it is known that there is one.
  store.remove()
  return {
    copied: (outcome: string) => copies.inc({ outcome }),
    converted: (outcome: string) => conversions.inc({ outcome }),
    contentFault: (fault: string) => faults.inc({ kind: fault }),
    objectStore: (isThere: boolean) => store.set(isThere ? 1 : 0),
  }
}
