/**
 * Returns memory of freed buffers, which the C library keeps, to the system. Buffers below its
 * threshold lie in one region, of which it returns only the end: memory before the last buffer in
 * use stays resident. `malloc_trim` returns all whole free pages, and takes 0.1 ms per megabyte.
 */
const NAME = 'malloc_trim'

/**
 * Returns a function that releases pages, and false where it cannot: the C library may lack the
 * function, or Node the module that calls it.
 */
export function openPageRelease(): () => boolean {
  let release: (() => boolean) | undefined
  return () => {
    release ??= findTrim()
    return release()
  }
}

function findTrim(): () => boolean {
  try {
    const ffi = withoutWarning(() => process.getBuiltinModule('node:ffi'))
    const { functions } = ffi.dlopen(null, { [NAME]: { arguments: ['u64'], return: 'i32' } })
    const trim = functions[NAME]
    return () => {
      trim(0n)
      return true
    }
  } catch {
    return () => false
  }
}

/** An operator can do nothing about a module that Node calls experimental. */
function withoutWarning<T>(load: () => T): T {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
