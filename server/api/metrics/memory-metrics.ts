/** Metrics of what callers' bytes use of a process, read at each scrape. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Memory } from '../../base/lib/memory/memory.ts'

export function addMemoryMetrics(registry: Registry, memory: Memory): void {
  const { bytes, disk, sockets, decoders } = memory
  const registers = [registry]
  new Gauge({
    name: 'tributary_memory_bytes',
    help: 'Bytes of requests, answers and WebSockets in memory, by what they are.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const { kind, used } of bytes.list()) this.set({ kind }, used)
    },
  })
  new Gauge({
    name: 'tributary_spool_bytes',
    help: 'Bytes of requests and answers in files.',
    registers,
    collect() {
      this.set(disk.usedInAll())
    },
  })
  new Gauge({
    name: 'tributary_sockets_open',
    help: 'Open WebSockets of callers.',
    registers,
    collect() {
      this.set(sockets.usedInAll())
    },
  })
  new Counter({
    name: 'tributary_memory_refusals_total',
    help: 'Refusals for lack of room, by what was refused and by whose use was too high.',
    labelNames: ['kind', 'reason'],
    registers,
    collect() {
      this.reset()
      for (const budget of [bytes, disk, sockets, decoders]) {
        for (const { kind, refused } of budget.list()) {
          this.inc({ kind, reason: 'account' }, refused.account)
          this.inc({ kind, reason: 'all' }, refused.all)
        }
      }
    },
  })
}
