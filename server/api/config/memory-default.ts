/** MEMORY_BYTES_MAX and the memory of the machine or container. */
import { totalmem } from 'node:os'
import type { Log } from '../../base/lib/log.ts'

const MB = 1024 ** 2
const PART = 1 / 8
const BYTES_MIN = 192 * MB
const BYTES_MAX = 1024 * MB
/**
 * The minimum, as a number of bodies of the largest size: for the body itself, its parsed form, and
 * some room.
 */
export const BODIES_MIN = 3

/** A process needs this for each byte of MEMORY_BYTES_MAX, and more beside these bytes. */
const NEEDED_FACTOR = 2
const NEEDED_BESIDE = 264 * MB

/** The limit of the container or the machine, in bytes. */
function memoryLimit(): number {
  // Without a container's limit this is 0, or more than any machine has.
  const constrained = process.constrainedMemory()
  return Math.min(totalmem(), constrained === 0 ? Infinity : constrained)
}

/** Returns the bytes for each of `workers` processes; at least enough for one of the bodies. */
export function defaultMemoryBytes(workers: number, bodyBytesMax: number): number {
  const part = (memoryLimit() * PART) / workers
  return Math.floor(
    Math.max(Math.min(Math.max(part, BYTES_MIN), BYTES_MAX), BODIES_MIN * bodyBytesMax),
  )
}

interface Needs {
  readonly workers: number
  readonly memory: { readonly bytesMax: number }
  readonly bodies: { readonly chatBytesMax: number }
}

/** Logs one line if the limits do not fit into the memory: the system may end the process. */
export function tellOfLittleMemory(
  { workers, memory: { bytesMax }, bodies: { chatBytesMax } }: Needs,
  log: Pick<Log, 'warn'>,
  limit = memoryLimit(),
): void {
  const needed = (bytesMax * NEEDED_FACTOR + NEEDED_BESIDE) * workers
  if (limit >= needed) return
  const fitting = Math.floor((limit / workers - NEEDED_BESIDE) / NEEDED_FACTOR / MB)
  const body = Math.floor(fitting / BODIES_MIN)
  const isBodyFitting = chatBytesMax * BODIES_MIN <= fitting * MB
  const values = isBodyFitting
    ? `MEMORY_BYTES_MAX=${fitting}MB`
    : `CHAT_BODY_BYTES_MAX=${body}MB and MEMORY_BYTES_MAX=${body * BODIES_MIN}MB`
  const remedy = body < 1 ? '' : `, or set ${values}`
  log.warn(
    {},
    `large requests may take ${Math.ceil(needed / MB)} MB, and the machine or container has ` +
      `${Math.floor(limit / MB)} MB: the system could end the gateway. Raise its limit${remedy}`,
  )
}
