// Faults that are ordered in advance for the next matching requests.
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
    const { vendor, operation, times, scenario } = (order ?? {}) as Partial<Queued>
    if (typeof scenario !== 'string' && (typeof scenario !== 'object' || scenario === null)) {
      throw new Error('scenario must be text or an object')
    }
    this.reader.read([scenario])
    this.queue.push({ vendor, operation, times: Number(times ?? 1), scenario })
    return { queued: this.queue.length }
  }

  take(vendor: string, operation: string): Source[] {
    if (this.queue.length === 0) return []
    const fits = (wanted: string | undefined, actual: string) =>
      wanted === undefined || wanted === '*' || wanted === actual
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
