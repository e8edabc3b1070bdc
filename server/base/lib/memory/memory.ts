/** The bounds on callers' bytes in this process: in memory, on disk, in connections, in work. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { LoopShare } from '../queues/loop-share.ts'
import { Budget, type FairShare } from './budget.ts'
import { type HeapCollector, LargeGarbage } from './large-garbage.ts'
import { SpillFile } from './spill-file.ts'

/**
 * - `arriving`: bodies of requests that are not complete
 * - `incoming`: long messages of WebSockets that are not complete
 * - `request`: complete ones, until their calls have ended
 * - `answer`: whole answers while they arrive and leave
 * - `whole`: those that are read, and events of streams that have not ended, until their calls have
 * - `turn`: what WebSockets remember
 * - `message`: what waits to leave by WebSockets
 *
 * Bytes that can be written to disk, or that nobody pays for, have a small share. The share of
 * requests lets one account run hundreds of calls with bodies of some 100 KB at once.
 */
const SHARES = {
  arriving: { ofFree: 1 / 16 },
  incoming: { ofFree: 1 / 8, takesOne: true, inParts: true },
  request: { ofFree: 1 / 2, takesOne: true },
  answer: { ofFree: 1 / 8 },
  whole: { ofFree: 1 / 2, takesOne: true },
  turn: { ofFree: 1 / 8 },
  message: { ofFree: 1 / 8, takesOne: true },
} as const satisfies Record<string, FairShare>

export type MemoryKind = keyof typeof SHARES

/** The bytes of a request or an answer and what they are parsed to, which is about as large. */
export const PARSED_FACTOR = 2

/** The part of all bytes that is reserved for accounts with small calls. */
const RESERVED_SHARE = 1 / 16

/** Concurrent decompressions: as many as the runtime has threads for them. */
const DECODERS = 4
/** The share of the free disk space at the start of the process. */
const DISK_SHARE = 1 / 4

export interface MemoryLimits {
  readonly bytesMax: number
  readonly diskBytesMax: number
  readonly socketsMax: number
  /** An absolute path; created when it is needed. */
  readonly folder: string
}

export type Memory = ReturnType<typeof createMemory>

/** `isShared` returns whether calls of several accounts run. */
export function createMemory(
  { bytesMax, diskBytesMax, socketsMax, folder }: MemoryLimits,
  isShared: () => boolean,
  collector?: HeapCollector,
) {
  const bytes = new Budget(bytesMax, SHARES, bytesMax * RESERVED_SHARE)
  const garbage = new LargeGarbage(() => bytes.usedInAll() - bytes.usedInHeap(), collector)
  const disk = new Budget(Math.min(diskBytesMax, freeBytes(folder) * DISK_SHARE), {
    spool: { ofFree: 1 / 2 },
  })
  return {
    bytes,
    disk,
    garbage,
    decoders: new Budget(DECODERS, { decoder: { ofFree: 1, takesOne: true } }),
    /** The event loop's time for large bodies. */
    loop: new LoopShare(isShared, (counted) => garbage.add(counted)),
    /** WebSockets of callers. */
    sockets: new Budget(socketsMax, { socket: { ofFree: 1 / 8 } }),
    /** Opens a file without a name. Rejects with 503. */
    openFile: (account: string) => SpillFile.open(folder, disk.portion(account, 'spool')),
  }
}

/** Returns the free bytes of the disk that has the folder, which may not exist yet. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return folder === dirname(folder) ? Infinity : freeBytes(dirname(folder))
  }
}
