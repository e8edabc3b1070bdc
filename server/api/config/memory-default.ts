/** The default of MEMORY_BYTES_MAX, from the memory of the machine or container. */
import { totalmem } from 'node:os'

const MB = 1024 ** 2
const PART = 1 / 8
const BYTES_MIN = 192 * MB
const BYTES_MAX = 1024 * MB
/**
 * The minimum, as a number of bodies of the largest size: for the body itself, its parsed form, and
 * some room.
 */
export const BODIES_MIN = 3

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
