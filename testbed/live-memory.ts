/** Reads the live memory of a process that has loaded collect-on-signal.ts. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../tests/support/until.ts'

/** A busy machine takes its time. */
const COLLECTIONS_MS = 120_000
const COLLECTOR = join(import.meta.dirname, 'collect-on-signal.ts')

export interface LiveMemory {
  /** The environment for the measured process. */
  readonly environment: Readonly<Record<string, string>>
  /** Resolves to the bytes of heap and buffers in use: the lowest of several collections. */
  read(process: { signal(name: NodeJS.Signals): void }): Promise<number>
  close(): void
}

export function openLiveMemory(): LiveMemory {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-memory-'))
  const file = join(folder, 'bytes')
  return {
    environment: { NODE_OPTIONS: `--import=${COLLECTOR}`, LIVE_MEMORY_FILE: file },
    async read(process) {
      rmSync(file, { force: true })
      process.signal('SIGUSR2')
      return until('the collections', () => readNumber(file), COLLECTIONS_MS)
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function readNumber(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
