// Faults queued for the next matching requests.
import { isInteger, isObject } from './checks.ts'
import type { ScenarioReader, Source } from './scenario.ts'

interface Queued {
  vendor: string | undefined
  operation: string | undefined
  times: number
  scenario: Source
}

export class FaultQueue {
  private queue: Queued[] = []
  private readonly reader: ScenarioReader

  constructor(reader: ScenarioReader) {
    this.reader = reader
  }

  add(order: unknown): { queued: number } {
    if (!isObject(order)) throw new Error('the body must be an object with a scenario')
    const { vendor, operation, times = 1, scenario } = order
    if (typeof scenario !== 'string' && !isObject(scenario)) {
      throw new Error('scenario must be text or an object')
    }
    if (!isInteger(times, 1)) throw new Error('times must be a whole number of at least 1')
    this.reader.read([scenario])
    this.queue.push({
      vendor: vendor === undefined ? undefined : String(vendor),
      operation: operation === undefined ? undefined : String(operation),
      times: Number(times),
      scenario,
    })
    return { queued: this.queue.length }
  }

  take(vendor: string, operation: string): Source[] {
    if (this.queue.length === 0) return []
    const fits = (pattern: string | undefined, actual: string) =>
      pattern === undefined || pattern === '*' || pattern === actual
    const found = this.queue.find(
      (order) => fits(order.vendor, vendor) && fits(order.operation, operation),
    )
    if (!found) return []
    found.times -= 1
    if (found.times <= 0) this.queue.splice(this.queue.indexOf(found), 1)
    return [found.scenario]
  }

  list(): Queued[] {
    return this.queue.map((order) => ({ ...order }))
  }

  clear(): void {
    this.queue = []
    this.reader.forget()
  }
}
