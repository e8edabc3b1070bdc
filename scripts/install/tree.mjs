// Whether `node_modules` is what package-lock.json asks for, however it was installed. npm writes
// what it has installed into node_modules/.package-lock.json, as its last step.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns true if every package that this platform needs is installed in the version of the
 * lockfile. `everything` also asks for what only tests, checks and the console's build need.
 */
export function isInstalled(root, { everything }) {
  const { packages: wanted } = readJson(join(root, 'package-lock.json')) ?? {}
  const { packages: installed } = readJson(join(root, 'node_modules', '.package-lock.json')) ?? {}
  if (!wanted || !installed) return false
  return Object.entries(wanted).every(([path, one]) => {
    if (path === '' || (!everything && (one.dev || one.devOptional))) return true
    const found = installed[path]
    // npm leaves out optional packages that do not fit the platform or could not be installed.
    if (!found) return Boolean(one.optional)
    const isSame = found.version === one.version && found.integrity === one.integrity
    return isSame && existsSync(join(root, path, 'package.json'))
  })
}

/** Returns undefined for a file that is not there or is cut short. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
