/** What a gateway may keep in memory, for tests without one. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HeapCollector } from '../../server/base/lib/memory/large-garbage.ts'
import {
  createMemory,
  type Memory,
  type MemoryLimits,
} from '../../server/base/lib/memory/memory.ts'

const MB = 1024 ** 2

export function testMemory(limits: Partial<MemoryLimits> = {}, collector?: HeapCollector): Memory {
  const folder = join(tmpdir(), 'tributary-test-spool')
  const large = { bytesMax: 1024 * MB, diskBytesMax: 8192 * MB, socketsMax: 4_000 }
  return createMemory({ ...large, folder, ...limits }, () => false, collector)
}
